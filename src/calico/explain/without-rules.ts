// Which rules let something pass, each by itself: who wants to deny it by taking it out has to change them all.
import { keyToPath } from "../model/index.ts";
import type { Cause, Direction, PolicyData, Verdict } from "../policy/index.ts";

export type PassedBy = {
  readonly rules: readonly { readonly cause: RuleCause; readonly direction: Direction }[];
  /** Without them it is denied. False: something else lets it pass then, or there are more than are looked for. */
  readonly isAll: boolean;
};

type RuleCause = Cause & { readonly is: "rule" };

/** As many as a list of them shows. */
const most = 6;

/** The rules of a verdict that allows, found one after the other. `judged` is asked again without those that were found. */
export function passedBy(
  verdict: Verdict | undefined,
  data: PolicyData,
  judged: (data: PolicyData) => Verdict | undefined,
): PassedBy {
  const rules: { cause: RuleCause; direction: Direction }[] = [];
  const copy = data.copy();
  let now: Verdict | undefined = verdict;
  while (now?.verdict === "allow" && rules.length < most) {
    const { decisive } = now;
    const cause = decisive?.answer?.cause;
    if (decisive === undefined || cause?.is !== "rule") break;
    rules.push({ cause, direction: decisive.direction });
    takeOut(cause, decisive.direction, copy);
    now = judged(copy);
  }
  return { rules, isAll: rules.length > 0 && now?.verdict === "deny" };
}

/** A rule that only logs decides nothing, and the others keep their numbers. */
function takeOut({ policy, at }: RuleCause, direction: Direction, data: PolicyData): void {
  const { kind, namespace, name } = policy;
  const path = keyToPath({ is: "Policy", kind, namespace, name });
  if (path === undefined) return;
  const { ingress, egress } = policy.rules;
  const less = policy.rules[direction].map((rule, index) =>
    index === at.number - 1 ? { ...rule, action: "log" as const } : rule,
  );
  data.policies.set(path, { ...policy, rules: { ingress, egress, [direction]: less } });
}

// What the four policies of tiers have in common beside their fields: NetworkPolicy and GlobalNetworkPolicy, each also staged.

import { always, each, filled, inTurn, type Problem, printGo } from "../checks/check.ts";
import { name, oneOf, selector, unique } from "../checks/tags.ts";
import type { KindInfo, SpecObject } from "../kind.ts";
import { forSpec } from "../kind.ts";
import { type PolicySpec, policyProblems, stagedDeleteProblems } from "./policy-checks.ts";
import { fillPolicy, tierExists } from "./policy-defaults.ts";
import { policyColumns } from "./policy-fields.ts";
import { ruleChecks } from "./rule-checks.ts";

/** The rules of the fields that all of them have. */
export const policyFieldChecks = () => ({
  tier: filled(name),
  ingress: each(ruleChecks),
  egress: each(ruleChecks),
  selector: filled(selector),
  serviceAccountSelector: filled(selector),
  performanceHints: inTurn(filled(unique), each(always("", oneOf("AssumeNeededOnEveryNode")))),
});

/** Of all four; each has its own members of it (the kinds' own files build on this one). */
type TieredSpec = PolicySpec & {
  readonly order?: unknown;
  readonly selector?: string | undefined;
  readonly doNotTrack?: boolean | undefined;
  readonly preDNAT?: boolean | undefined;
  readonly applyOnForward?: boolean | undefined;
  readonly serviceAccountSelector?: string | undefined;
  readonly namespaceSelector?: string | undefined;
  readonly performanceHints?: readonly string[] | undefined;
};

type TieredForm = {
  /** Go's name of the spec's type. */
  readonly specName: string;
  readonly isGlobal: boolean;
  readonly isStaged: boolean;
};

/** What is shown of them, filled in, and demanded of them as a whole. */
export function tieredPolicy(form: TieredForm): Pick<KindInfo, "columns" | "fill" | "wholeChecks" | "crossRules"> {
  return {
    columns: policyColumns,
    fill: forSpec(fillPolicy),
    wholeChecks: forSpec((object: SpecObject<TieredSpec>) => wholeProblems(object, form)),
    crossRules: [tierExists],
  };
}

function* wholeProblems(object: SpecObject<TieredSpec>, form: TieredForm): Generator<Problem> {
  yield* policyProblems(object, form);
  if (!form.isStaged) return;
  yield* stagedDeleteProblems(object.spec, {
    specName: form.specName,
    value: printSpec(object.spec, form),
    except: ", except Tier,",
    besides: ["tier", "types"],
  });
}

/** As Go prints a staged policy's spec, whose types were emptied before. */
function printSpec(spec: TieredSpec, { isGlobal }: TieredForm): string {
  const { doNotTrack = false, preDNAT = false, applyOnForward = false, namespaceSelector = "" } = spec;
  return printGo([
    spec.stagedAction ?? "",
    spec.tier ?? "",
    spec.order,
    spec.ingress ?? [],
    spec.egress ?? [],
    spec.selector ?? "",
    [],
    ...(isGlobal ? [doNotTrack, preDNAT, applyOnForward] : []),
    spec.serviceAccountSelector ?? "",
    ...(isGlobal ? [namespaceSelector] : []),
    spec.performanceHints ?? [],
  ])
    .replace(/^\[/, "{")
    .replace(/\]$/, "}");
}

// What is known of policies beside what nodes have: the file that says them, and their rules as they were written.
import { keyToPath, type RuleOrigin, type RuleOrigins } from "../model/index.ts";
import type { Direction, Policy } from "../policy/index.ts";

export type Sources = {
  readonly fileOf: (policy: Policy) => string | undefined;
  /** Of a rule by its number among those that nodes have. Undefined: not known, or counted as it was written. */
  readonly originOf: OriginOf;
};

export type OriginOf = (policy: Policy, direction: Direction, number: number) => RuleOrigin | undefined;

/** For who has only what nodes are told. */
export const noSources: Sources = { fileOf: () => undefined, originOf: () => undefined };

export function originIn(byPath: ReadonlyMap<string, RuleOrigins>): OriginOf {
  return ({ kind, namespace, name }, direction, number) => {
    const path = keyToPath({ is: "Policy", kind, namespace, name });
    return path === undefined ? undefined : byPath.get(path)?.[direction][number - 1];
  };
}

/** As the person who wrote the policy counts, where that is known. Where it is not, a number that nobody has written says so. */
export function ruleName(policy: Policy, at: { direction: Direction; number: number }, originOf: OriginOf): string {
  const { direction, number } = at;
  const origin = originOf(policy, direction, number);
  if (origin !== undefined) return `${direction} rule ${origin.rule} (${origin.field})`;
  return isMultiplied(policy) ? `${direction} rule ${number} as nodes count` : `${direction} rule ${number}`;
}

/** Nodes have a rule of its for each protocol and peer of what was written. */
function isMultiplied({ kind }: Policy): boolean {
  return (
    kind === "KubernetesNetworkPolicy" ||
    kind === "StagedKubernetesNetworkPolicy" ||
    kind === "KubernetesClusterNetworkPolicy"
  );
}

// What one endpoint says to a packet in one direction: tier by tier, policy by policy, rule by rule, and which of them decided.
import { matches, type Packet } from "./match-rule.ts";
import type { Members } from "./members.ts";
import { tiersFor } from "./order.ts";
import type { PolicyData } from "./policy-data.ts";
import type { Rule } from "./rule.ts";
import type { Direction, Endpoint, Policy, Tier } from "./values.ts";

/** What a stage asks: which policies count, what the end of a tier means, and whether profiles have a word. */
export type Question = {
  readonly endpoint: Endpoint;
  readonly direction: Direction;
  readonly isWanted: (policy: Policy) => boolean;
  /** Of a tier whose default action is to deny. */
  readonly endOfTier: "deny" | "go on";
  readonly afterTiers: "profiles" | "nothing decided";
};

/** A rule that holds: its place in its list, from 1. */
export type RuleAt = { readonly rule: Rule; readonly number: number };

export type PolicyAsked = { readonly policy: Policy; readonly matched?: RuleAt; readonly logged: readonly RuleAt[] };
export type TierAsked = {
  readonly tier: Tier;
  /** No tier of this name exists. */
  readonly isMissing: boolean;
  /** Until one decides. */
  readonly policies: readonly PolicyAsked[];
  readonly outcome: "allow" | "deny" | "pass" | "deny at its end" | "pass at its end";
};

export type Cause =
  | { readonly is: "rule"; readonly tier: Tier; readonly policy: Policy; readonly at: RuleAt }
  | { readonly is: "end of tier"; readonly tier: Tier; readonly policies: readonly Policy[] }
  | { readonly is: "profile"; readonly profile: string; readonly at: RuleAt }
  | { readonly is: "missing profile"; readonly profile: string }
  | { readonly is: "no rule" };

export type Answer = {
  /** "undecided": no policy has a word here. */
  readonly verdict: "allow" | "deny" | "undecided";
  readonly cause: Cause | undefined;
  readonly tiers: readonly TierAsked[];
};

export function evaluate(question: Question, packet: Packet, data: PolicyData, members: Members): Answer {
  const { endpoint, direction, isWanted, endOfTier, afterTiers } = question;
  const asked: TierAsked[] = [];
  const applies = (policy: Policy) => policy.types[direction] && isWanted(policy);
  for (const { tier, isMissing, policies } of tiersFor(data, members.labelsOf(endpoint), applies)) {
    const { answers, decision } = askPolicies(policies, direction, packet, members);
    const denies = tier.defaultAction === "deny" && endOfTier === "deny";
    const outcome = decision?.at.rule.action ?? (denies ? "deny at its end" : "pass at its end");
    if (outcome === "log") throw new Error("a rule that only logs has decided");
    asked.push({ tier, isMissing, policies: answers, outcome });
    if (decision !== undefined && (outcome === "allow" || outcome === "deny"))
      return { verdict: outcome, cause: { is: "rule", tier, ...decision }, tiers: asked };
    if (outcome === "deny at its end")
      return { verdict: "deny", cause: { is: "end of tier", tier, policies }, tiers: asked };
  }
  if (afterTiers === "nothing decided") return { verdict: "undecided", cause: undefined, tiers: asked };
  return { ...askProfiles(endpoint, direction, packet, { data, members }), tiers: asked };
}

type Decision = { readonly policy: Policy; readonly at: RuleAt };

function askPolicies(policies: readonly Policy[], direction: Direction, packet: Packet, members: Members) {
  const answers: PolicyAsked[] = [];
  for (const policy of policies) {
    const { matched, logged } = firstMatch(policy.rules[direction], packet, members);
    answers.push(matched === undefined ? { policy, logged } : { policy, logged, matched });
    if (matched !== undefined) return { answers, decision: { policy, at: matched } satisfies Decision };
  }
  return { answers, decision: undefined };
}

function askProfiles(
  { profileIds }: Endpoint,
  direction: Direction,
  packet: Packet,
  { data, members }: { readonly data: PolicyData; readonly members: Members },
): Pick<Answer, "verdict" | "cause"> {
  for (const id of profileIds) {
    const profile = data.profiles.get(id);
    if (profile === undefined) return { verdict: "deny", cause: { is: "missing profile", profile: id } };
    const { matched } = firstMatch(profile.rules[direction], packet, members, (rule) => rule.action !== "pass");
    if (matched === undefined) continue;
    return {
      verdict: matched.rule.action === "allow" ? "allow" : "deny",
      cause: { is: "profile", profile: id, at: matched },
    };
  }
  return { verdict: "deny", cause: { is: "no rule" } };
}

function firstMatch(rules: readonly Rule[], packet: Packet, members: Members, decides = (_: Rule) => true) {
  const logged: RuleAt[] = [];
  for (const [index, rule] of rules.entries()) {
    if (!matches(rule, packet, members)) continue;
    const at = { rule, number: index + 1 };
    if (rule.action === "log") logged.push(at);
    else if (decides(rule)) return { matched: at, logged };
  }
  return { matched: undefined, logged };
}

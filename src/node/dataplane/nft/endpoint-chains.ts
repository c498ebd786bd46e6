// The chains of one endpoint, line by line: what every packet meets first, then its tiers, its profiles, and the end.
import { rangeText } from "../../../base/lib/index.ts";
import {
  type Direction,
  type EndpointTier,
  type HostEndpoint,
  type Policy,
  type PolicyClass,
  protocolText,
  type Workload,
} from "../../../calico/policy/index.ts";
import type { BuildOptions } from "../settings.ts";
import { cleaned, comment, policyChain, profileChain } from "./names.ts";
import type { Verdicts } from "./render-rule.ts";

/** The group of the kernel's packet log that samples of denied packets are sent to. */
export const dropLogGroup = 4_789;

/**
 * The stages of a host endpoint, each with chains of its own. "translated" is what the host itself sends to an address that is translated:
 * where that leaves is known only after routing, where nft refuses a "reject" in any chain that packets may come to.
 */
export const hostStages = ["host", "translated", "forwarded", "before-nat", "untracked"] as const;
export type HostStage = (typeof hostStages)[number];

export type ChainContext = BuildOptions & {
  /** Whether it is a chain of those that may only drop. */
  readonly dropsOnly: boolean;
  readonly hasPassRule: (policy: string) => boolean;
  readonly isProfileKnown: (name: string) => boolean;
  /** The chain that holds these lines; endpoints with the same tier share it. */
  readonly tierChain: (lines: readonly string[]) => string;
};

/** Undefined: rules of a profile, which are the normal ones. */
export function verdictsOf(policy: Policy | undefined, options: BuildOptions, name: string): Verdicts {
  const of: PolicyClass = policy?.class ?? "normal";
  const { settings, marks, logLimit } = options;
  const allow = {
    normal: "counter accept",
    untracked: `counter meta mark set meta mark or ${hex(marks.accept)} notrack accept`,
    "pre-DNAT": `counter meta mark set meta mark or ${hex(marks.accept)} accept`,
  };
  return {
    allow: allow[of],
    // Before routing nobody can be answered.
    deny: of === "normal" ? `counter ${settings.denyAction}` : "counter drop",
    pass: `counter meta mark set meta mark or ${hex(marks.pass)} return`,
    log: `${logLimit === undefined ? "" : `limit rate ${logLimit} `}log prefix "${logPrefix(settings.logPrefix, policy, name)}: "`,
  };
}

const shortKinds: { readonly [kind: string]: string } = {
  NetworkPolicy: "np",
  GlobalNetworkPolicy: "gnp",
  KubernetesNetworkPolicy: "knp",
  KubernetesClusterNetworkPolicy: "kcnp",
  StagedNetworkPolicy: "snp",
  StagedGlobalNetworkPolicy: "sgnp",
  StagedKubernetesNetworkPolicy: "sknp",
};

/** The kernel takes 127 bytes; nothing in it may end the statement. */
function logPrefix(text: string, policy: Policy | undefined, name: string): string {
  const full = policy === undefined || policy.namespace === "" ? name : `${policy.namespace}/${name}`;
  const words: { readonly [letter: string]: string } = {
    t: policy?.tier ?? "",
    k: policy === undefined ? "pro" : (shortKinds[policy.kind] ?? "unknown"),
    n: name,
    p: full,
  };
  const filled = text.replace(/%([tknp])/g, (_, letter: string) => words[letter] ?? "");
  return filled.replace(/[^A-Za-z0-9_.:/%|+=()[\] -]/g, "").slice(0, 100);
}

/** A line that denies, after one that shows a sample of what it denies, where samples are asked for. */
export function dropping(match: string, why: string, options: BuildOptions, verdict = "drop"): readonly string[] {
  const before = match === "" ? "" : `${match} `;
  const sample = sampling(why, options);
  return [...(sample === undefined ? [] : [`${before}${sample}`]), `${before}counter ${verdict} ${comment(why)}`];
}

export function sampling(why: string, { dropSamplesPerSecond: rate }: BuildOptions): string | undefined {
  if (rate === 0) return undefined;
  return `limit rate ${rate}/second burst ${Math.max(5, rate)} packets log prefix "${cleaned(why)}" group ${dropLogGroup} snaplen 128`;
}

function established({ dropsInvalid }: BuildOptions): readonly string[] {
  return ["ct state established,related accept", ...(dropsInvalid ? ["ct state invalid counter drop"] : [])];
}

export function workloadChain(
  { endpoint, tiers }: { readonly endpoint: Workload; readonly tiers: readonly EndpointTier[] },
  direction: Direction,
  context: ChainContext,
): readonly string[] {
  const { denyAction, vxlanPort, allowsVxlanFromWorkloads, allowsIpipFromWorkloads } = context.settings;
  if (!endpoint.isActive) return dropping("", "the endpoint is not active", context, denyAction);
  return [
    ...established(context),
    ...(direction === "ingress" || allowsVxlanFromWorkloads
      ? []
      : dropping(`meta l4proto 17 th dport ${vxlanPort}`, "VXLAN from a pod", context, denyAction)),
    ...(direction === "ingress" || allowsIpipFromWorkloads
      ? []
      : dropping("meta l4proto 4", "IPIP from a pod", context, denyAction)),
    ...tierJumps(tiers, { direction, isWanted: isNormal, end: "deny" }, context),
    ...profileJumps(endpoint.profileIds, direction, context),
    ...noRule(context),
  ];
}

export function hostChain(
  { endpoint, tiers }: { readonly endpoint: HostEndpoint; readonly tiers: readonly EndpointTier[] },
  stage: HostStage,
  direction: Direction,
  context: ChainContext,
): readonly string[] | undefined {
  switch (stage) {
    case "host":
      return [
        ...established(context),
        ...failsafe(direction, context),
        ...tierJumps(tiers, { direction, isWanted: isNormal, end: "deny" }, context),
        ...profileJumps(endpoint.profileIds, direction, context),
        ...noRule(context),
      ];
    case "translated":
      if (direction === "ingress") return undefined;
      return hostChain({ endpoint, tiers }, "host", direction, withoutReject(context));
    case "forwarded": {
      const isWanted = (policy: PolicyOfTier) => isNormal(policy) && policy.appliesOnForward;
      return [...established(context), ...tierJumps(tiers, { direction, isWanted, end: "deny" }, context), goesOn];
    }
    case "before-nat": {
      const isWanted = ({ class: of }: PolicyOfTier) => of === "pre-DNAT";
      return [
        "ct state established,related accept",
        ...failsafe(direction, context),
        ...tierJumps(tiers, { direction, isWanted, end: "go on" }, context),
        goesOn,
      ];
    }
    case "untracked": {
      const isWanted = ({ class: of }: PolicyOfTier) => of === "untracked";
      const jumps = tierJumps(tiers, { direction, isWanted, end: "go on" }, context);
      return jumps.length === 0
        ? [goesOn]
        : [...failsafe(direction, context), ...failsafeAnswers(direction, context), ...jumps, goesOn];
    }
  }
}

/** Nothing was decided: the next base chain is asked, and no endpoint beside this one. */
const goesOn = "accept";

/** The same ones, if they reject nothing. */
export function droppingOptions<T extends BuildOptions>(options: T): T {
  const { settings } = options;
  return settings.denyAction === "drop" ? options : { ...options, settings: { ...settings, denyAction: "drop" } };
}

function withoutReject(context: ChainContext): ChainContext {
  const dropping = droppingOptions(context);
  return dropping === context ? context : { ...dropping, dropsOnly: true };
}

type PolicyOfTier = EndpointTier["policies"][number];

function isNormal({ class: of }: PolicyOfTier): boolean {
  return of === "normal";
}

function noRule(context: ChainContext): readonly string[] {
  return dropping("", "no rule lets it pass", context, context.settings.denyAction);
}

/** So that nobody locks himself out of his own host. */
function failsafe(direction: Direction, { settings }: ChainContext): readonly string[] {
  return settings.failsafe[direction].map(({ protocol, net, port }) => {
    const side = direction === "ingress" ? "saddr" : "daddr";
    const address = net === undefined ? "" : `${net.family === 4 ? "ip" : "ip6"} ${side} ${rangeText(net)} `;
    return `${address}meta l4proto ${protocol} th dport ${port} accept ${comment(`failsafe ${protocolText(protocol)} ${port}`)}`;
  });
}

/** Without tracking, answers are packets like others. */
function failsafeAnswers(direction: Direction, { settings }: ChainContext): readonly string[] {
  return settings.failsafe[direction === "ingress" ? "egress" : "ingress"].map(
    ({ protocol, port }) => `meta l4proto ${protocol} th sport ${port} accept ${comment("answer of a failsafe port")}`,
  );
}

function profileJumps(names: readonly string[], direction: Direction, context: ChainContext): readonly string[] {
  const missing = names.findIndex((name) => !context.isProfileKnown(name));
  const known = missing < 0 ? names : names.slice(0, missing);
  const jumps = known.map((name) => `jump ${profileChain(name, direction, context)}`);
  return missing < 0 ? jumps : [...jumps, ...dropping("", `profile ${names[missing]} is not known`, context)];
}

type TierQuestion = {
  readonly direction: Direction;
  readonly isWanted: (policy: PolicyOfTier) => boolean;
  readonly end: "deny" | "go on";
};

function tierJumps(
  tiers: readonly EndpointTier[],
  { direction, isWanted, end }: TierQuestion,
  context: ChainContext,
): readonly string[] {
  return tiers.flatMap((tier) => {
    const policies = tier.policies.filter((policy) => policy.directions.includes(direction) && isWanted(policy));
    if (policies.length === 0) return [];
    return [
      `jump ${context.tierChain(
        tierLines(
          tier,
          policies.map(({ id }) => id),
          { direction, end },
          context,
        ),
      )}`,
    ];
  });
}

function tierLines(
  { tier, defaultAction }: EndpointTier,
  policies: readonly string[],
  { direction, end }: Pick<TierQuestion, "direction" | "end">,
  context: ChainContext,
): readonly string[] {
  const { hasPassRule, marks, settings } = context;
  const pass = hex(marks.pass);
  return [
    ...(policies.some(hasPassRule) ? [`meta mark set meta mark and ${hex(0xffffffff - marks.pass)}`] : []),
    ...policies.flatMap((id) => [
      `jump ${policyChain(id, direction, context)}`,
      ...(hasPassRule(id) ? [`meta mark and ${pass} == ${pass} return`] : []),
    ]),
    ...(defaultAction === "deny" && end === "deny"
      ? dropping("", `end of tier ${tier}`, context, settings.denyAction)
      : []),
  ];
}

export function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

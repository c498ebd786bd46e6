// The chains of one endpoint, line by line: what every packet meets first, then its tiers, its profiles, and the end.
import { rangeText } from "../../../base/lib/index.ts";
import {
  type Direction,
  type EndpointTier,
  type HostEndpoint,
  type NodeSettings,
  type PolicyClass,
  protocolText,
  type Workload,
} from "../../../calico/policy/index.ts";
import { comment, policyChain, profileChain } from "./names.ts";
import type { Verdicts } from "./render-rule.ts";

/** Two bits of the packet's mark: "this policy passes on", and "accepted before NAT". */
export type Marks = { readonly pass: number; readonly accept: number };

/** The stages of a host endpoint, each with chains of its own. */
export const hostStages = ["host", "forwarded", "before-nat", "untracked"] as const;
export type HostStage = (typeof hostStages)[number];

export type ChainContext = {
  readonly settings: NodeSettings;
  readonly marks: Marks;
  readonly hasPassRule: (policy: string) => boolean;
  readonly isProfileKnown: (name: string) => boolean;
  /** The chain that holds these lines; endpoints with the same tier share it. */
  readonly tierChain: (lines: readonly string[]) => string;
};

export function verdictsOf(of: PolicyClass, { settings, marks }: Pick<ChainContext, "settings" | "marks">): Verdicts {
  const allow = {
    normal: "counter accept",
    untracked: "counter notrack accept",
    "pre-DNAT": `counter meta mark set meta mark or ${hex(marks.accept)} accept`,
  };
  return {
    allow: allow[of],
    // Before routing nobody can be answered.
    deny: of === "normal" ? deny(settings) : "counter drop",
    pass: `counter meta mark set meta mark or ${hex(marks.pass)} return`,
    log: `log prefix "${settings.logPrefix.replace(/[^A-Za-z0-9_.:-]/g, "").slice(0, 100)}: "`,
  };
}

function deny({ denyAction }: NodeSettings): string {
  return `counter ${denyAction}`;
}

const established = ["ct state established,related accept", "ct state invalid counter drop"];

export function workloadChain(
  { endpoint, tiers }: { readonly endpoint: Workload; readonly tiers: readonly EndpointTier[] },
  direction: Direction,
  context: ChainContext,
): readonly string[] {
  if (!endpoint.isActive) return ["counter drop"];
  const { vxlanPort, allowsVxlanFromWorkloads, allowsIpipFromWorkloads } = context.settings;
  return [
    ...established,
    ...(direction === "ingress" || allowsVxlanFromWorkloads
      ? []
      : [`meta l4proto 17 th dport ${vxlanPort} counter drop`]),
    ...(direction === "ingress" || allowsIpipFromWorkloads ? [] : ["meta l4proto 4 counter drop"]),
    ...tierJumps(tiers, { direction, isWanted: isNormal, end: "deny" }, context),
    ...profileJumps(endpoint.profileIds, direction, context),
    noRule(context),
  ];
}

export function hostChain(
  { endpoint, tiers }: { readonly endpoint: HostEndpoint; readonly tiers: readonly EndpointTier[] },
  stage: HostStage,
  direction: Direction,
  context: ChainContext,
): readonly string[] {
  switch (stage) {
    case "host":
      return [
        ...established,
        ...failsafe(direction, context),
        ...tierJumps(tiers, { direction, isWanted: isNormal, end: "deny" }, context),
        ...profileJumps(endpoint.profileIds, direction, context),
        noRule(context),
      ];
    case "forwarded": {
      const isWanted = (policy: PolicyOfTier) => isNormal(policy) && policy.appliesOnForward;
      return [...established, ...tierJumps(tiers, { direction, isWanted, end: "deny" }, context)];
    }
    case "before-nat": {
      const isWanted = ({ class: of }: PolicyOfTier) => of === "pre-DNAT";
      return [
        "ct state established,related accept",
        ...failsafe(direction, context),
        ...tierJumps(tiers, { direction, isWanted, end: "go on" }, context),
      ];
    }
    case "untracked": {
      const isWanted = ({ class: of }: PolicyOfTier) => of === "untracked";
      const jumps = tierJumps(tiers, { direction, isWanted, end: "go on" }, context);
      return jumps.length === 0
        ? []
        : [...failsafe(direction, context), ...failsafeAnswers(direction, context), ...jumps];
    }
  }
}

type PolicyOfTier = EndpointTier["policies"][number];

function isNormal({ class: of }: PolicyOfTier): boolean {
  return of === "normal";
}

function noRule({ settings }: ChainContext): string {
  return `${deny(settings)} ${comment("no rule lets it pass")}`;
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

function profileJumps(
  names: readonly string[],
  direction: Direction,
  { isProfileKnown }: ChainContext,
): readonly string[] {
  const missing = names.findIndex((name) => !isProfileKnown(name));
  const jumps = (missing < 0 ? names : names.slice(0, missing)).map((name) => `jump ${profileChain(name, direction)}`);
  return missing < 0 ? jumps : [...jumps, `counter drop ${comment(`profile ${names[missing]} is not known`)}`];
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
  { hasPassRule, marks, settings }: ChainContext,
): readonly string[] {
  const pass = hex(marks.pass);
  return [
    ...(policies.some(hasPassRule) ? [`meta mark set meta mark and ${hex(~marks.pass >>> 0)}`] : []),
    ...policies.flatMap((id) => [
      `jump ${policyChain(id, direction)}`,
      ...(hasPassRule(id) ? [`meta mark and ${pass} == ${pass} return`] : []),
    ]),
    ...(defaultAction === "deny" && end === "deny" ? [`${deny(settings)} ${comment(`end of tier ${tier}`)}`] : []),
  ];
}

export function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

// The chains that the kernel starts, and how they find an endpoint's own. An "accept" ends one of them and the packet goes on to the next;
// a "drop" is final. So the sender's egress and the receiver's ingress are two chains of one hook, and an allow needs no mark.
import { type AddressRange, rangeText } from "../../../base/lib/index.ts";
import type { Direction, NodeSettings } from "../../../calico/policy/index.ts";
import { type HostStage, hex, type Marks } from "./endpoint-chains.ts";
import { comment } from "./names.ts";
import type { Chain } from "./ruleset.ts";

export type BaseOptions = {
  readonly settings: NodeSettings;
  /** "cali" */
  readonly interfacePrefixes: readonly string[];
  readonly marks: Marks;
  /** Networks whose addresses a pod may send from, by its interface. */
  readonly spoofedSources: readonly { readonly interfaceName: string; readonly net: AddressRange }[];
  /** The chain of the host endpoint that governs every interface that no other one does. */
  readonly ofOtherInterfaces: (stage: HostStage, direction: Direction) => string | undefined;
};

/** Maps from an interface to the chain of its host endpoint, for each stage. */
export const hostMaps: readonly { readonly name: string; readonly stage: HostStage; readonly direction: Direction }[] =
  [
    { name: "map-host-in", stage: "host", direction: "ingress" },
    { name: "map-host-out", stage: "host", direction: "egress" },
    { name: "map-forward-in", stage: "forwarded", direction: "ingress" },
    { name: "map-forward-out", stage: "forwarded", direction: "egress" },
    { name: "map-before-nat", stage: "before-nat", direction: "ingress" },
    { name: "map-untracked-in", stage: "untracked", direction: "ingress" },
    { name: "map-untracked-out", stage: "untracked", direction: "egress" },
  ];
export const workloadMaps = ["map-from-workload", "map-to-workload"] as const;

export function baseChains(options: BaseOptions): ReadonlyMap<string, Chain> {
  const { marks, interfacePrefixes, settings } = options;
  const from = interfacePrefixes.map((prefix) => `iifname "${prefix}*"`);
  const to = interfacePrefixes.map((prefix) => `oifname "${prefix}*"`);
  const clear = `meta mark set meta mark and ${hex(~(marks.pass | marks.accept) >>> 0)}`;
  const accepted = [`meta mark and ${hex(marks.accept)} == ${hex(marks.accept)} accept`, "ct state untracked accept"];
  const neighbours = from.map((match) => `${match} icmpv6 type { 130, 131, 132, 133, 135, 136 } accept`);
  const unknown = (matches: readonly string[]) =>
    matches.map((match) => `${match} counter drop ${comment("an interface without endpoint")}`);
  const each = (matches: readonly string[], statement: string) => matches.map((match) => `${match} ${statement}`);
  const toHost =
    settings.endpointToHost === "drop" ? `counter drop ${comment("DefaultEndpointToHostAction")}` : "accept";
  const host = (stage: HostStage, direction: Direction) => hostLines(stage, direction, options);
  const hooked = (hook: string, rules: readonly string[]): Chain => ({ hook: `type ${hook}; policy accept;`, rules });
  return new Map([
    [
      "raw-prerouting",
      hooked("filter hook prerouting priority raw", [
        clear,
        ...options.spoofedSources.map(
          ({ interfaceName, net }) =>
            `iifname "${interfaceName}" ${net.family === 4 ? "ip" : "ip6"} saddr ${rangeText(net)} accept`,
        ),
        // The source of a pod's packet must have a route back to that pod, or it is not its own.
        ...each(
          from,
          `fib saddr . mark . iif oif missing counter drop ${comment("a source address that is not the pod's")}`,
        ),
        ...each(from, "accept"),
        ...host("untracked", "ingress"),
      ]),
    ],
    [
      "raw-output",
      hooked("filter hook output priority raw", [clear, ...each(to, "accept"), ...host("untracked", "egress")]),
    ],
    [
      "before-nat",
      hooked("filter hook prerouting priority mangle", [
        "ct state established,related,untracked accept",
        ...each(from, "accept"),
        ...host("before-nat", "ingress"),
      ]),
    ],
    [
      "forward-1-host-in",
      hooked("filter hook forward priority filter", [
        ...accepted,
        ...each(from, "accept"),
        ...host("forwarded", "ingress"),
      ]),
    ],
    [
      "forward-2-from-workload",
      hooked("filter hook forward priority filter + 1", ["iifname vmap @map-from-workload", ...unknown(from)]),
    ],
    [
      "forward-3-to-workload",
      hooked("filter hook forward priority filter + 2", ["oifname vmap @map-to-workload", ...unknown(to)]),
    ],
    [
      "forward-4-host-out",
      hooked("filter hook forward priority filter + 3", [
        "ct state untracked accept",
        ...each(to, "accept"),
        ...host("forwarded", "egress"),
      ]),
    ],
    [
      "input-1-from-workload",
      hooked("filter hook input priority filter", [...neighbours, "iifname vmap @map-from-workload", ...unknown(from)]),
    ],
    [
      "input-2-to-host",
      hooked("filter hook input priority filter + 1", [
        ...neighbours,
        ...each(from, "ct state established,related accept"),
        ...each(from, toHost),
        ...accepted,
        ...host("host", "ingress"),
      ]),
    ],
    // A node reaches its own pods whatever they say.
    [
      "output-1-from-host",
      hooked("filter hook output priority filter", [...each(to, "accept"), ...accepted, ...host("host", "egress")]),
    ],
    [
      "nat-outgoing",
      hooked("nat hook postrouting priority srcnat + 10", [
        "ip saddr @hidden4 ip daddr != @pools4 counter masquerade",
        "ip6 saddr @hidden6 ip6 daddr != @pools6 counter masquerade",
      ]),
    ],
  ]);
}

/** Loopback is left alone: a host endpoint for all interfaces must not cut the node off from itself. */
function hostLines(stage: HostStage, direction: Direction, { ofOtherInterfaces }: BaseOptions): readonly string[] {
  const word = direction === "ingress" ? "iifname" : "oifname";
  const map = hostMaps.find((one) => one.stage === stage && one.direction === direction);
  const other = ofOtherInterfaces(stage, direction);
  return [
    `${word} "lo" accept`,
    ...(map === undefined ? [] : [`${word} vmap @${map.name}`]),
    ...(other === undefined ? [] : [`goto ${other}`]),
  ];
}

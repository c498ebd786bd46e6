// The chains that the kernel starts, and how they find an endpoint's own. An "accept" ends one of them and the packet goes on to the next;
// a "drop" is final. So the sender's egress and the receiver's ingress are two chains of one hook, and an allow needs no mark.
import { rangeText } from "../../../base/lib/index.ts";
import type { Direction } from "../../../calico/policy/index.ts";
import type { BaseOptions } from "./base-options.ts";
import { dropping, type HostStage, hex } from "./endpoint-chains.ts";
import { comment, interfacesFrom } from "./names.ts";
import { natLines } from "./nat.ts";
import type { Chain } from "./ruleset.ts";

/** Priorities as the kernel has them: their names are nft's alone, and what the kernel tells is compared with what we say. */
const at = { raw: -300, mangle: -150, filter: 0, sourceNat: 100 } as const;

/** Maps from an interface to the chain of its host endpoint, for each stage. */
export const hostMaps: readonly { readonly name: string; readonly stage: HostStage; readonly direction: Direction }[] =
  [
    { name: "map-host-in", stage: "host", direction: "ingress" },
    { name: "map-host-out", stage: "host", direction: "egress" },
    { name: "map-translated-out", stage: "translated", direction: "egress" },
    { name: "map-forward-in", stage: "forwarded", direction: "ingress" },
    { name: "map-forward-out", stage: "forwarded", direction: "egress" },
    { name: "map-before-nat", stage: "before-nat", direction: "ingress" },
    { name: "map-untracked-in", stage: "untracked", direction: "ingress" },
    { name: "map-untracked-out", stage: "untracked", direction: "egress" },
  ];
export const workloadMaps = ["map-from-workload", "map-to-workload"] as const;

/**
 * These decide nothing where there is no host endpoint, and are there only while there is one: each chain of a hook costs every packet, also
 * of a connection that is established (docs/performance.md, "Policy on a node").
 */
export const hostOnlyChains: ReadonlySet<string> = new Set([
  "before-nat",
  "forward-1-host-in",
  "forward-4-host-out",
  "output-1-from-host",
  "output-2-translated",
]);

export function baseChains(options: BaseOptions): ReadonlyMap<string, Chain> {
  const all = everyBaseChain(options);
  return new Map([...all].filter(([name]) => options.hasHostEndpoints || !hostOnlyChains.has(name)));
}

function everyBaseChain(options: BaseOptions): ReadonlyMap<string, Chain> {
  const { marks, interfacePrefixes, settings } = options;
  const from = interfacePrefixes.map((prefix) => `iifname ${interfacesFrom(prefix)}`);
  const to = interfacePrefixes.map((prefix) => `oifname ${interfacesFrom(prefix)}`);
  const ours = marks.pass + marks.accept + marks.local;
  // Every packet comes by, and most have no mark: to look costs less than to set (docs/performance.md, "Policy on a node").
  const clear = `meta mark != 0 meta mark set meta mark and ${hex(0xffffffff - ours)}`;
  // By our mark, and not by "untracked": others (a DNS cache on the node, say) leave connections untracked, too.
  const accepted = `meta mark and ${hex(marks.accept)} == ${hex(marks.accept)} accept`;
  // What ARP is to IPv4. Conntrack leaves it untracked, so that no answer is ever "established".
  const discovery = `icmpv6 type { 130, 131, 132, 133, 134, 135, 136, 143 } accept ${comment("neighbour discovery")}`;
  const local = hex(marks.local);
  const neighbours = from.map((match) => `${match} icmpv6 type { 130, 131, 132, 133, 135, 136 } accept`);
  const unknown = (matches: readonly string[]) =>
    matches.flatMap((match) => dropping(match, "an interface without endpoint", options, settings.denyAction));
  const each = (matches: readonly string[], statement: string) => matches.map((match) => `${match} ${statement}`);
  const toHost = (match: string) =>
    settings.endpointToHost === "drop" ? dropping(match, "DefaultEndpointToHostAction", options) : [`${match} accept`];
  const host = (stage: HostStage, direction: Direction) => hostLines(stage, direction, options);
  // The endpoint for all interfaces governs what is forwarded through pods' interfaces, too; no other one does.
  const besideOthers = (stage: HostStage, direction: Direction, matches: readonly string[]) =>
    options.ofOtherInterfaces(stage, direction) === undefined ? each(matches, "accept") : [];
  const hooked = (hook: string, rules: readonly string[]): Chain => ({
    hook: `type ${hook}; policy accept;`,
    rules: settings.isIpv6On ? rules : [`meta nfproto ipv6 accept ${comment("Ipv6Support is off")}`, ...rules],
  });
  return new Map([
    [
      "raw-prerouting",
      hooked(`filter hook prerouting priority ${at.raw}`, [
        clear,
        ...options.spoofedSources.map(
          ({ interfaceName, net }) =>
            `iifname "${interfaceName}" ${net.family === 4 ? "ip" : "ip6"} saddr ${rangeText(net)} accept`,
        ),
        // The source of a pod's packet must have a route back to that pod, or it is not its own.
        ...from.flatMap((match) => [
          `${match} fib saddr . mark . iif oif exists accept`,
          ...dropping(match, "a source address that is not the pod's", options),
        ]),
        ...untrackedTunnels(options),
        ...host("untracked", "ingress"),
      ]),
    ],
    [
      "raw-output",
      hooked(`filter hook output priority ${at.raw}`, [
        clear,
        ...each(to, "accept"),
        ...untrackedTunnels(options),
        ...host("untracked", "egress"),
      ]),
    ],
    [
      "before-nat",
      hooked(`filter hook prerouting priority ${at.mangle}`, [
        "ct state established,related accept",
        accepted,
        ...besideOthers("before-nat", "ingress", from),
        ...host("before-nat", "ingress"),
      ]),
    ],
    [
      "forward-1-host-in",
      hooked(`filter hook forward priority ${at.filter}`, [
        accepted,
        ...besideOthers("forwarded", "ingress", from),
        ...host("forwarded", "ingress"),
      ]),
    ],
    [
      "forward-2-from-workload",
      hooked(`filter hook forward priority ${at.filter + 1}`, ["iifname vmap @map-from-workload", ...unknown(from)]),
    ],
    [
      "forward-3-to-workload",
      hooked(`filter hook forward priority ${at.filter + 2}`, ["oifname vmap @map-to-workload", ...unknown(to)]),
    ],
    [
      "forward-4-host-out",
      hooked(`filter hook forward priority ${at.filter + 3}`, [
        ...besideOthers("forwarded", "egress", to),
        ...host("forwarded", "egress"),
      ]),
    ],
    [
      "input-1-from-workload",
      hooked(`filter hook input priority ${at.filter}`, [
        ...neighbours,
        "iifname vmap @map-from-workload",
        ...unknown(from),
      ]),
    ],
    [
      "input-2-to-host",
      hooked(`filter hook input priority ${at.filter + 1}`, [
        ...neighbours,
        ...each(from, "ct state established,related accept"),
        ...from.flatMap(toHost),
        ...tunnelLines("ingress", options),
        accepted,
        discovery,
        ...host("host", "ingress"),
      ]),
    ],
    // A node reaches its own pods whatever they say.
    [
      "output-1-from-host",
      hooked(`filter hook output priority ${at.filter}`, [
        ...each(to, "accept"),
        ...tunnelLines("egress", options),
        accepted,
        discovery,
        // Where a translated connection leaves is known only after routing: output-2 asks.
        `ct status dnat meta mark set meta mark or ${local} accept`,
        ...host("host", "egress"),
      ]),
    ],
    [
      "output-2-translated",
      hooked(`filter hook postrouting priority ${at.mangle}`, [
        `meta mark and ${local} != ${local} accept`,
        `meta mark set meta mark and ${hex(0xffffffff - marks.local)}`,
        ...each(to, "accept"),
        ...host("translated", "egress"),
      ]),
    ],
    ["nat-outgoing", hooked(`nat hook postrouting priority ${at.sourceNat + 10}`, natLines(options))],
  ]);
}

/** Loopback is left alone: a host endpoint for all interfaces must not cut the node off from itself. */
function hostLines(
  stage: HostStage,
  direction: Direction,
  { ofOtherInterfaces, excludedNames }: BaseOptions,
): readonly string[] {
  const word = direction === "ingress" ? "iifname" : "oifname";
  const map = hostMaps.find((one) => one.stage === stage && one.direction === direction);
  const other = ofOtherInterfaces(stage, direction);
  return [
    `${word} "lo" accept`,
    ...(map === undefined ? [] : [`${word} vmap @${map.name}`]),
    ...(other === undefined
      ? []
      : [...excludedNames.map((name) => `${word} "${name}" accept ${comment("InterfaceExclude")}`), `goto ${other}`]),
  ];
}

/** Both directions of VXLAN have ports of their own: to conntrack every packet would be a new connection. */
function untrackedTunnels({ tunnels, settings }: BaseOptions): readonly string[] {
  return ([4, 6] as const).flatMap((family) =>
    tunnels.vxlan[family] ? [`meta nfproto ipv${family} udp dport ${settings.vxlanPort} notrack`] : [],
  );
}

/** Packets of tunnels come from nodes that are known, or not at all; to those they always go, whatever host endpoints say. */
function tunnelLines(direction: Direction, options: BaseOptions): readonly string[] {
  const { tunnels, settings } = options;
  const forms = [
    ...([4, 6] as const).flatMap((family) =>
      tunnels.vxlan[family] ? [{ family, match: `udp dport ${settings.vxlanPort}`, set: `tunnel-ends${family}` }] : [],
    ),
    ...(tunnels.ipip ? [{ family: 4 as const, match: "meta l4proto 4", set: "tunnel-ends4" }] : []),
  ];
  return forms.flatMap(({ family, match, set }) => {
    const word = family === 4 ? "ip" : "ip6";
    const here = `meta nfproto ipv${family} ${match} fib ${direction === "ingress" ? "daddr" : "saddr"} type local`;
    const known = `${here} ${word} ${direction === "ingress" ? "saddr" : "daddr"} @${set} accept ${comment("tunnel of a node")}`;
    return direction === "egress"
      ? [known]
      : [known, ...dropping(here, "a tunnel's packet from no known node", options)];
  });
}

// What failed and is not explained by anything else: from which probes pass and which do not, the layer that is to blame.
//
//   a policy says no, of pods or of nodes  ─▶ POLICY_DENIES
//   node to node fails                     ─▶ NODE_UNREACHABLE, or NEIGHBOUR_WRONG where a hardware address is not the other's
//   large ones fail, small ones pass       ─▶ MTU_PATH
//   a rule of others may drop it           ─▶ FOREIGN_FORWARD_DROP
//   a pod does not answer its own node     ─▶ POD_SILENT, and nothing that it sends or gets counts for more
//   a tunnel has wrong entries             ─▶ TUNNEL_WRONG
//   a pod elsewhere is silent, and packets do not even arrive at its node         ─▶ the underlay: plain or VXLAN
//   they arrive, its own node hears it, and the answer is lost                    ─▶ the underlay, on the way back
//   anything else                          ─▶ POD_SILENT
import type { ClusterFacts, Facts, HostFacts, PingVerdict, Probe } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { strayedNeighbour } from "./neighbours.ts";
import { filteredWay } from "./routes.ts";
import { silences } from "./silences.ts";
import { suspectOf, suspectText } from "./suspects.ts";

export function checkProbes({ cluster, hosts }: Facts, causes: readonly NodeFinding[]): NodeFinding[] {
  const isExplained = (probe: Probe) => causes.some(({ explains }) => explains(probe));
  const all = hosts.flatMap(({ probes }) => probes);
  const failed = all.filter((probe) => !probe.ok && !isExplained(probe));
  const denied = failed.filter((probe) => verdictOf(probe, hosts)?.verdict === "deny");
  const unheard = failed.filter(({ kind }) => kind === "node");
  const nodes = unheard.filter((probe) => !denied.includes(probe));
  const isBelow = (probe: Probe) =>
    unheard.some((node) => node.fromNode === probe.fromNode && node.node === probe.node);
  const silent = failed.filter(
    (probe) => (probe.kind === "pod" || probe.kind === "pod to pod") && !denied.includes(probe) && !isBelow(probe),
  );
  return [
    ...unreachable(nodes, hosts, cluster),
    ...pathMtu(failed.filter((probe) => probe.kind === "large" && !isBelow(probe))),
    ...denials(denied, hosts),
    ...silences(silent, { all, cluster, hosts }),
  ];
}

function verdictOf({ from, to, kind }: Probe, hosts: readonly HostFacts[]): PingVerdict | undefined {
  if (kind !== "node" && kind !== "pod" && kind !== "pod to pod") return undefined;
  return hosts.flatMap(({ verdicts }) => verdicts).find((each) => each.from === from && each.to === to);
}

function unreachable(probes: readonly Probe[], hosts: readonly HostFacts[], cluster: ClusterFacts): NodeFinding[] {
  const pairOf = ({ fromNode, node }: Probe): [string, string] => [fromNode, node];
  const strayed = probes.flatMap((probe) => {
    const [one, other] = pairOf(probe);
    return strayedNeighbour([one, other], hosts, cluster) ?? strayedNeighbour([other, one], hosts, cluster) ?? [];
  });
  const wrong = [...new Map(strayed.map((each) => [each.says, each])).values()].map(({ at, says }) =>
    finding({ code: "NEIGHBOUR_WRONG", node: at, what: says, explains: among(probes) }),
  );
  if (wrong.length > 0) return wrong;
  const filtered = filteredBetween(probes, hosts, cluster);
  const rest = probes.filter((probe) => !filtered.some(({ explains }) => explains(probe)));
  const silent = [...Map.groupBy(rest, ({ node }) => node)].map(([node, group]) => {
    const suspected = group.flatMap((probe) => suspectOf(probe, hosts, cluster) ?? [])[0];
    return finding({
      code: "NODE_UNREACHABLE",
      node,
      explains: among(group),
      what: `${node} does not answer at ${group[0]?.address} (asked from ${group.map(({ from }) => from).join(", ")})`,
      evidence: [
        ...group.map(({ from, address, says }) => `ping from ${from} to ${address}: ${says ?? "no answer"}`),
        ...(suspected === undefined
          ? []
          : [`the firewall of ${suspected.host.node} drops it: ${suspectText(suspected.rule)}`]),
      ],
    });
  });
  return [...filtered, ...silent];
}

/** Nodes of which one has its way to the other by another interface than packets arrive on, and a filter that minds. */
function filteredBetween(probes: readonly Probe[], hosts: readonly HostFacts[], cluster: ClusterFacts): NodeFinding[] {
  const found = probes.flatMap((probe) =>
    hosts.flatMap((host) => {
      const far = host.node === probe.fromNode ? probe.node : host.node === probe.node ? probe.fromNode : undefined;
      const lookup = far === undefined ? undefined : filteredWay(far, host, cluster);
      return far === undefined || lookup === undefined ? [] : [{ probe, host, far, lookup }];
    }),
  );
  return [...Map.groupBy(found, ({ host, far }) => `${host.node} ${far}`).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { host, far, lookup } = first;
    const { node, reversePathDrops = 0 } = host;
    return finding({
      code: "REVERSE_PATH_FILTER",
      node,
      what: `${node} drops packets of ${far} on arrival: its way back to ${lookup.to} is ${lookup.link}, and rp_filter is strict`,
      evidence: [
        `ip route get ${lookup.to}: dev ${lookup.link}`,
        `TcpExtIPReversePathFilter grew by ${reversePathDrops} while this was looked at`,
      ],
      explains: ({ fromNode, node: to }) => (fromNode === node && to === far) || (fromNode === far && to === node),
    });
  });
}

function among(probes: readonly Probe[]): NodeFinding["explains"] {
  return (probe) => probes.some((each) => each.fromNode === probe.fromNode && each.node === probe.node);
}

function pathMtu(probes: readonly Probe[]): NodeFinding[] {
  return [...Map.groupBy(probes, ({ fromNode }) => fromNode)].map(([node, group]) => {
    const [first] = group;
    return finding({
      code: "MTU_PATH",
      node,
      explains: (probe) =>
        probe.kind === "large" && group.some((each) => each.fromNode === probe.fromNode && each.node === probe.node),
      what: `packets of ${first?.tried} bytes from ${node} do not arrive at ${group.map(({ to }) => to).join(", ")}, though its interface takes them`,
      evidence: group.map(
        ({ to, tried, largest }) =>
          `ping -M do to ${to}: ${tried} bytes do not pass, ${largest === undefined ? "small ones do" : `${largest} do`}`,
      ),
    });
  });
}

function denials(probes: readonly Probe[], hosts: readonly HostFacts[]): NodeFinding[] {
  const reason = (probe: Probe) => verdictOf(probe, hosts)?.by ?? "a policy";
  return [...Map.groupBy(probes, reason)].map(([by, group]) => {
    const [first] = group;
    const others = group.length - 1;
    // That pods may not talk is what policies are for; nodes that may not are cut off.
    const isOfNodes = group.some(({ kind }) => kind === "node");
    return finding({
      code: "POLICY_DENIES",
      ...(isOfNodes ? { level: "warning" } : {}),
      explains: (probe) =>
        group.some(({ from, to }) => probe.from === from && probe.to === to) || (isOfNodes && among(group)(probe)),
      what: `${by} denies pings from ${first?.from} to ${first?.to}${others === 0 ? "" : ` and ${others} more`}`,
      evidence: group
        .slice(0, 5)
        .map(({ from, to }) => `cattail explain ${explainName(from)} ${explainName(to)} --protocol icmp`),
    });
  });
}

function explainName(end: string): string {
  return end.includes("/") ? end : `node/${end}`;
}

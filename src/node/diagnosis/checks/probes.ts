// What failed and is not explained by anything else: from which probes pass and which do not, the layer that is to blame.
//
//   node to node fails                     ─▶ NODE_UNREACHABLE
//   large ones fail, small ones pass       ─▶ MTU_PATH
//   a policy says no                       ─▶ POLICY_DENIES
//   a pod elsewhere is silent, and packets do not even arrive at its node         ─▶ the underlay: plain or VXLAN
//   they arrive, its own node hears it, and the answer is lost                    ─▶ the underlay, on the way back
//   anything else                          ─▶ POD_SILENT
import type { ClusterFacts, Facts, HostFacts, PingVerdict, Probe } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { nodeNamed, poolOf, wayBetween } from "../networks.ts";

export function checkProbes({ cluster, hosts }: Facts, causes: readonly NodeFinding[]): NodeFinding[] {
  const isExplained = (probe: Probe) => causes.some(({ explains }) => explains(probe));
  const all = hosts.flatMap(({ probes }) => probes);
  const failed = all.filter((probe) => !probe.ok && !isExplained(probe));
  const denied = failed.filter((probe) => verdictOf(probe, hosts)?.verdict === "deny");
  const nodes = failed.filter(({ kind }) => kind === "node");
  const isBelow = (probe: Probe) => nodes.some((node) => node.fromNode === probe.fromNode && node.node === probe.node);
  const silent = failed.filter(
    (probe) => (probe.kind === "pod" || probe.kind === "pod to pod") && !denied.includes(probe) && !isBelow(probe),
  );
  return [
    ...unreachable(nodes),
    ...pathMtu(failed.filter((probe) => probe.kind === "large" && !isBelow(probe))),
    ...denials(denied, hosts),
    ...silences(silent, { all, cluster, hosts }),
  ];
}

function verdictOf({ from, to, kind }: Probe, hosts: readonly HostFacts[]): PingVerdict | undefined {
  if (kind !== "pod" && kind !== "pod to pod") return undefined;
  return hosts.flatMap(({ verdicts }) => verdicts).find((each) => each.from === from && each.to === to);
}

function unreachable(probes: readonly Probe[]): NodeFinding[] {
  return [...Map.groupBy(probes, ({ node }) => node)].map(([node, group]) =>
    finding({
      code: "NODE_UNREACHABLE",
      node,
      explains: (probe) => group.some((each) => each.fromNode === probe.fromNode && each.node === probe.node),
      what: `${node} does not answer at ${group[0]?.address} (asked from ${group.map(({ from }) => from).join(", ")})`,
      evidence: group.map(({ from, address, says }) => `ping from ${from} to ${address}: ${says ?? "no answer"}`),
    }),
  );
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
    return finding({
      code: "POLICY_DENIES",
      explains: (probe) => group.some(({ from, to }) => probe.from === from && probe.to === to),
      what: `${by} denies pings from ${first?.from} to ${first?.to}${others === 0 ? "" : ` and ${others} more`}`,
      evidence: group.slice(0, 5).map(({ from, to }) => `cattail explain ${explainName(from)} ${to} --protocol icmp`),
    });
  });
}

function explainName(from: string): string {
  return from.includes("/") ? from : `node/${from}`;
}

type Rest = { readonly all: readonly Probe[]; readonly cluster: ClusterFacts; readonly hosts: readonly HostFacts[] };

function silences(probes: readonly Probe[], rest: Rest): NodeFinding[] {
  const byCause = Map.groupBy(probes, (probe) => causeOf(probe, rest));
  const found: NodeFinding[] = [];
  const underlay = byCause.get("plain") ?? [];
  if (underlay.length > 0) found.push(drops("UNDERLAY_DROPS_PODS", underlay, rest));
  const tunnel = byCause.get("vxlan") ?? [];
  if (tunnel.length > 0) found.push(drops("VXLAN_BLOCKED", tunnel, rest));
  const silent = byCause.get("pod") ?? [];
  for (const [to, group] of Map.groupBy(silent, (probe) => probe.to))
    found.push(
      finding({
        code: "POD_SILENT",
        explains: (probe) => group.some(({ from, address }) => probe.from === from && probe.address === address),
        node: group[0]?.node ?? "",
        what: `the pod ${to} (${group[0]?.address}) on ${group[0]?.node} does not answer ${[...new Set(group.map(({ from }) => from))].join(", ")}`,
        evidence: group.map(({ from, address }) => `ping from ${from} to ${address}: no answer`),
        fix: rest.hosts.some(({ node }) => node === group[0]?.node)
          ? "see whether the pod itself answers: its processes, its own firewall"
          : `run cattail doctor node on ${group[0]?.node}; see whether the pod itself answers`,
      }),
    );
  return found;
}

function causeOf(probe: Probe, { all, cluster, hosts }: Rest): "plain" | "vxlan" | "pod" {
  const [one, other] = [nodeNamed(probe.fromNode, cluster), nodeNamed(probe.node, cluster)];
  const pool = poolOf(probe.address, cluster.pools);
  if (one === undefined || other === undefined || pool === undefined || one.name === other.name) return "pod";
  const way = wayBetween(one, other, pool) === "vxlan" ? "vxlan" : "plain";
  const has = (kind: Probe["kind"], ok: boolean, fromNode: string) =>
    all.some(
      (each) => each.kind === kind && each.ok === ok && each.fromNode === fromNode && each.address === probe.address,
    );
  // Its own node hears it: the pod is well, and the way is to blame, in one direction or the other.
  const isWellAtHome = has("pod", true, probe.node);
  if (has("arrival", false, probe.fromNode))
    return isWellAtHome || !hosts.some(({ node }) => node === probe.node) ? way : "pod";
  return isWellAtHome ? way : "pod";
}

function drops(
  code: "UNDERLAY_DROPS_PODS" | "VXLAN_BLOCKED",
  probes: readonly Probe[],
  { all, hosts, cluster }: Rest,
): NodeFinding {
  const six = cluster.family === 6 ? "IPv6 " : "";
  const pairs = [...new Set(probes.map(({ fromNode, node }) => `${fromNode} -> ${node}`))];
  const arrivals = all.filter(({ kind, ok }) => kind === "arrival" && !ok);
  const unseen = [...new Set(probes.map(({ node }) => node))].filter(
    (node) => !hosts.some((host) => host.node === node),
  );
  const [first] = probes;
  return finding({
    code,
    explains: ({ fromNode, node }) => probes.some((each) => each.fromNode === fromNode && each.node === node),
    what: `between ${pairs.join(", ")} ${code === "VXLAN_BLOCKED" ? `no VXLAN packet arrives${six === "" ? "" : " over IPv6"}` : `${six}packets with addresses of pods do not arrive`}, and the nodes reach each other`,
    evidence: [
      `ping from ${first?.from} to ${first?.address} (${first?.to}): no answer; to the node ${first?.node}: answers`,
      ...arrivals
        .slice(0, 3)
        .map(({ address, node }) => `with one hop to ${address}: ${node} does not say that it arrived`),
      "the routes lead to the right nodes",
      ...unseen.map(
        (node) => `not looked at: ${node}; run cattail doctor node there (its forwarding could be off as well)`,
      ),
    ],
  });
}

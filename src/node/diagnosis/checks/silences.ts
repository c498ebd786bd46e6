// Pods that do not answer, where no policy denies it: which layer is to blame. Rules of others first, then the pod itself, then what is between.
import { nodeCatalogue } from "../catalogue.ts";
import type { ClusterFacts, HostFacts, Probe } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { nodeNamed, poolOf, type Way, wayBetween } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";
import { type Strayed, strayedTunnel } from "./neighbours.ts";
import { type Suspected, suspectEvidence, suspectOf, suspectText } from "./suspects.ts";

type Rest = { readonly all: readonly Probe[]; readonly cluster: ClusterFacts; readonly hosts: readonly HostFacts[] };

export function silences(probes: readonly Probe[], rest: Rest): NodeFinding[] {
  const { hosts, cluster } = rest;
  const foreign = suspected(probes, rest);
  const isForeign = (probe: Probe) => foreign.some(({ explains }) => explains(probe));
  const left = probes.filter((probe) => !isForeign(probe));
  const mute = muteAtHome(left);
  const isOfMute = ({ from, to }: Probe) => mute.has(to) || mute.has(from);
  const byCause = Map.groupBy(
    left.filter((probe) => !isOfMute(probe)),
    (probe) => causeOf(probe, rest),
  );
  const tunnel = byCause.get("vxlan") ?? [];
  const strayed = wrongTunnels(tunnel, hosts, cluster);
  const blocked = tunnel.filter((probe) => !strayed.some(({ explains }) => explains(probe)));
  const underlay = byCause.get("plain") ?? [];
  const ipip = byCause.get("ipip") ?? [];
  const silent = [...left.filter(({ to, from }) => mute.has(to) && !mute.has(from)), ...(byCause.get("pod") ?? [])];
  return [
    ...foreign,
    ...(underlay.length > 0 ? [drops("UNDERLAY_DROPS_PODS", underlay, rest)] : []),
    ...strayed,
    ...(blocked.length > 0 ? [drops("VXLAN_BLOCKED", blocked, rest)] : []),
    ...(ipip.length > 0 ? [drops("IPIP_BLOCKED", ipip, rest)] : []),
    ...[...Map.groupBy(silent, ({ to }) => to)].map(([to, group]) => silentPod(to, group, left, rest)),
  ];
}

/** A rule around the tunnel's packets is the tunnel's business, which says so itself. */
function suspected(probes: readonly Probe[], { hosts, cluster }: Rest): NodeFinding[] {
  const found = probes.flatMap((probe) => {
    const by = suspectOf(probe, hosts, cluster);
    return by === undefined || by.isOuter ? [] : [{ probe, by }];
  });
  const placeOf = ({ by }: { by: Suspected }) => `${by.host.node} ${suspectText(by.rule)}`;
  return [...Map.groupBy(found, placeOf).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { host, rule } = first.by;
    const [probe] = group.map((each) => each.probe);
    return finding({
      code: "FOREIGN_FORWARD_DROP",
      node: host.node,
      what: `a rule of somebody else on ${host.node} drops packets of pods: ${suspectText(rule)}`,
      evidence: [
        ...suspectEvidence(first.by),
        `ping from ${probe?.from} to ${probe?.address}: ${probe?.says ?? "no answer"}`,
      ],
      fix: "change that rule, or accept the pods' networks before it in the same chain",
      explains: ({ from, to }) => group.some((each) => each.probe.from === from && each.probe.to === to),
    });
  });
}

/** Pods that their own node does not hear: whatever else they do not answer is no sign of anything between. */
function muteAtHome(probes: readonly Probe[]): ReadonlySet<string> {
  return new Set(probes.flatMap(({ kind, fromNode, node, to }) => (kind === "pod" && fromNode === node ? [to] : [])));
}

function wrongTunnels(probes: readonly Probe[], hosts: readonly HostFacts[], cluster: ClusterFacts): NodeFinding[] {
  const found = new Map<string, Strayed>();
  for (const { fromNode, node } of probes)
    for (const pair of [
      [fromNode, node],
      [node, fromNode],
    ] as const) {
      const strayed = strayedTunnel(pair, hosts, cluster);
      if (strayed !== undefined) found.set(pair.join(), strayed);
    }
  return [...Map.groupBy([...found], ([, { at }]) => at)].map(([node, group]) => {
    const pairs = group.map(([pair]) => pair);
    return finding({
      code: "TUNNEL_WRONG",
      node,
      what: group.map(([, { says }]) => says).join("; "),
      evidence: ["ip neigh show dev vxlan.calico; bridge fdb show dev vxlan.calico"],
      explains: ({ fromNode, node: to }) => pairs.includes(`${fromNode},${to}`) || pairs.includes(`${to},${fromNode}`),
    });
  });
}

const mostNames = 4;

function silentPod(to: string, group: readonly Probe[], all: readonly Probe[], { hosts, cluster }: Rest): NodeFinding {
  const [first] = group;
  const node = first?.node ?? "";
  const host = hosts.find((each) => each.node === node);
  const trouble = host === undefined ? undefined : troubleOf(to, host, cluster);
  const isOwn = ({ from, to: other }: Probe) => from === to || other === to;
  const askers = [...new Set(group.map(({ from }) => from))];
  const more = askers.length > mostNames ? ` and ${askers.length - mostNames} more` : "";
  const silence = `the pod ${to} (${first?.address}) on ${node} does not answer ${askers.slice(0, mostNames).join(", ")}${more}`;
  return finding({
    code: trouble === undefined ? "POD_SILENT" : "POD_INTERFACE",
    node,
    what: trouble === undefined ? silence : `${silence}: ${trouble}`,
    evidence: group.map(({ from, address }) => `ping from ${from} to ${address}: no answer`),
    ...(trouble === undefined && host === undefined
      ? { fix: `run cattail doctor node on ${node}; see whether the pod itself answers` }
      : trouble === undefined
        ? { fix: "see whether the pod itself answers: its processes, its own firewall" }
        : {}),
    explains: (probe) =>
      group.includes(probe) || all.some((each) => isOwn(each) && each.from === probe.from && each.to === probe.to),
  });
}

function troubleOf(name: string, { links, podTroubles }: HostFacts, { pods }: ClusterFacts): string | undefined {
  const pod = pods.find((each) => `${each.namespace}/${each.name}` === name);
  const link = pod === undefined ? undefined : interfaceOfPod(pod);
  if (link !== undefined && !links.some((each) => each.name === link)) return `its interface ${link} is not there`;
  return podTroubles?.find((each) => each.pod === name)?.says;
}

function causeOf(probe: Probe, { all, cluster, hosts }: Rest): Way | "pod" {
  const [one, other] = [nodeNamed(probe.fromNode, cluster), nodeNamed(probe.node, cluster)];
  const pool = poolOf(probe.address, cluster.pools);
  if (one === undefined || other === undefined || pool === undefined || one.name === other.name) return "pod";
  const way = wayBetween(one, other, pool);
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
  code: "UNDERLAY_DROPS_PODS" | "VXLAN_BLOCKED" | "IPIP_BLOCKED",
  probes: readonly Probe[],
  { all, hosts, cluster }: Rest,
): NodeFinding {
  const six = cluster.family === 6 ? "IPv6 " : "";
  const over = six === "" ? "" : " over IPv6";
  const lost = {
    UNDERLAY_DROPS_PODS: `${six}packets with addresses of pods do not arrive`,
    VXLAN_BLOCKED: `no VXLAN packet arrives${over}`,
    IPIP_BLOCKED: `no IPIP packet arrives${over}`,
  }[code];
  const pairs = [...new Set(probes.map(({ fromNode, node }) => `${fromNode} -> ${node}`))];
  const arrivals = all.filter(({ kind, ok }) => kind === "arrival" && !ok);
  const unseen = [...new Set(probes.map(({ node }) => node))].filter(
    (node) => !hosts.some((host) => host.node === node),
  );
  const [first] = probes;
  const pool = poolOf(first?.address ?? "", cluster.pools);
  const firewalls = probes.flatMap((probe) => suspectOf(probe, hosts, cluster) ?? []);
  const [filtered] = code !== "UNDERLAY_DROPS_PODS" ? firewalls.filter(({ isOuter }) => isOuter) : [];
  return finding({
    code,
    ...(pool === undefined ? {} : { fix: nodeCatalogue[code].fix.replace("ippool POOL", `ippool ${pool.name}`) }),
    ...(filtered === undefined ? {} : { node: filtered.host.node }),
    explains: ({ fromNode, node }) => probes.some((each) => each.fromNode === fromNode && each.node === node),
    what: `between ${pairs.join(", ")} ${lost}, and the nodes reach each other`,
    evidence: [
      `ping from ${first?.from} to ${first?.address} (${first?.to}): no answer; to the node ${first?.node}: answers`,
      ...arrivals
        .slice(0, 3)
        .map(({ address, node }) => `with one hop to ${address}: ${node} does not say that it arrived`),
      "the routes lead to the right nodes",
      ...(filtered === undefined
        ? []
        : [
            `the firewall of ${filtered.host.node} drops it: ${suspectText(filtered.rule)}`,
            ...suspectEvidence(filtered),
          ]),
      ...unseen.map(
        (node) => `not looked at: ${node}; run cattail doctor node there (its forwarding could be off as well)`,
      ),
    ],
  });
}

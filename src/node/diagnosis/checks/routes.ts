// Whether packets for pods take the right way out of a host: for each block of another node (and each pod there) what the kernel would do
// with a packet, against what the datastore says of the owner.
import type { ClusterFacts, HostFacts, LookupFact, NodeFact, PoolFact, Probe } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { bare, duplicates, hasNoIpip, isIn, isSameSubnet, nodeNamed, poolOf, wayBetween } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";

/** Addresses a host looks up: the first of each block of another node, and its pods. */
export type Destination = { readonly address: string; readonly owner: string };

export function destinations(node: string, { blocks, pods }: ClusterFacts): Destination[] {
  const ofBlocks = blocks.flatMap(({ cidr, node: owner }) =>
    owner === undefined || owner === node ? [] : [{ address: bare(cidr), owner }],
  );
  const ofPods = pods.flatMap(({ address, node: owner }) =>
    address === undefined || owner === node ? [] : [{ address, owner }],
  );
  // A borrowed address lies in a block of another: the pod's own node counts.
  const byAddress = new Map([...ofBlocks, ...ofPods].map((each) => [each.address, each]));
  return [...byAddress.values()];
}

export function checkRoutes(host: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const own = nodeNamed(host.node, cluster);
  // With an address that the host does not have, all its routes are wrong, and that is told already.
  const isHere = host.addresses.some(({ address }) => bare(address) === bare(own?.address ?? ""));
  if (own === undefined || !isHere) return [];
  const wrong = destinations(host.node, cluster).flatMap((destination) => judged(destination, { host, own, cluster }));
  const byKind = Map.groupBy(wrong, ({ is, owner }) => `${is} ${owner}`);
  return [...[...byKind.values()].flatMap((group) => describe(group, host, cluster)), ...checkPodRoutes(host, cluster)];
}

/** What the kernel of a host does with packets for an address, where that is wrong. */
export function wrongWay(destination: Destination, host: HostFacts, cluster: ClusterFacts): string | undefined {
  const own = nodeNamed(host.node, cluster);
  const lookup = host.lookups.find(({ to }) => to === destination.address);
  const other = nodeNamed(destination.owner, cluster);
  const pool = poolOf(destination.address, cluster.pools);
  if (own === undefined || lookup === undefined || other?.address === undefined || pool === undefined) return undefined;
  const expected = expectedHop(own, other, pool);
  return expected === undefined || isExpected(lookup, expected, host) ? undefined : hopText(expected);
}

type Wrong = {
  readonly is: "missing" | "wrong" | "filtered";
  readonly address: string;
  readonly owner: string;
  readonly lookup: LookupFact;
  readonly expected: string;
};

type Where = { readonly host: HostFacts; readonly own: NodeFact; readonly cluster: ClusterFacts };

function judged({ address, owner }: Destination, { host, own, cluster }: Where): Wrong[] {
  const lookup = host.lookups.find(({ to }) => to === address);
  const other = nodeNamed(owner, cluster);
  const pool = poolOf(address, cluster.pools);
  const isAmbiguous = [...duplicates(cluster).values()].some(
    (names) => names.includes(owner) || names.includes(host.node),
  );
  if (lookup === undefined || other?.address === undefined || pool === undefined || isAmbiguous) return [];
  if (isExcused(owner, host, cluster)) return [];
  const expected = expectedHop(own, other, pool);
  if (expected === undefined || isExpected(lookup, expected, host)) return [];
  const arrives = arrivalLink(expected.way, host, own);
  const isDropped = cluster.family === 4 && isFiltered(lookup, host, arrives) && (host.reversePathDrops ?? 0) > 0;
  if (!isDropped && !isDetour(address, { lookup, owner, host, cluster }) && isAnswered(address, host, cluster))
    return [];
  if (expected.way === "ipip" && hasNoIpip(host)) return []; // told of the pool
  const told = { address, owner, lookup, expected: hopText(expected) };
  if (isMissing(lookup, address, host, cluster)) return [{ is: "missing", ...told }];
  // IPv6 has no such filter.
  return [{ is: cluster.family === 4 && isFiltered(lookup, host, arrives) ? "filtered" : "wrong", ...told }];
}

/** A session that is down, or waits, is told by itself: the routes are its consequence. */
function isExcused(owner: string, { bird }: HostFacts, cluster: ClusterFacts): boolean {
  if (bird === undefined) return false;
  if (bird.silent !== undefined || bird.waits !== undefined) return true;
  const address = nodeNamed(owner, cluster)?.address;
  return bird.sessions.some((each) => each.address === bare(address ?? "") && each.state !== "Established");
}

/** By a third node, which passes packets on: on nobody's plan, but where BGP makes it so. */
function isDetour(
  address: string,
  { lookup, owner, host, cluster }: { lookup: LookupFact; owner: string; host: HostFacts; cluster: ClusterFacts },
): boolean {
  const { gateway } = lookup;
  const isOfThird = cluster.nodes.some((node) => node.name !== owner && bare(node.address ?? "") === gateway);
  const taken = host.routes.find((route) => route.gateway === gateway && isIn(address, route.destination));
  return isOfThird && !ofBgp.has(taken?.protocol ?? "");
}

/** What BIRD writes, and what our agent keeps in its place while BIRD starts anew. */
const ofBgp: ReadonlySet<string> = new Set(["bird", "12", "81"]);

/** A router between the nodes may know the way, or a cloud's own routes do: what arrives is not wrong. */
function isAnswered(address: string, { node, probes }: HostFacts, { blocks }: ClusterFacts): boolean {
  const block = blocks.find(({ cidr }) => isIn(address, cidr));
  const asked = probes.filter(({ kind, fromNode }) => kind === "pod" && fromNode === node);
  const same = asked.filter((probe) => probe.address === address);
  const near = same.length > 0 ? same : asked.filter((probe) => block !== undefined && isIn(probe.address, block.cidr));
  return near.length > 0 && near.every(({ ok }) => ok);
}

type Hop = { readonly way: "vxlan" | "ipip" | "plain"; readonly gateway: string | undefined };

/** Undefined: between two networks without encapsulation the routers decide. */
function expectedHop(own: NodeFact, other: NodeFact, pool: PoolFact): Hop | undefined {
  const way = wayBetween(own, other, pool);
  if (way === "vxlan") return { way, gateway: other.tunnelAddress };
  if (way === "plain" && !isSameSubnet(own, other)) return undefined;
  return { way, gateway: bare(other.address ?? "") };
}

function hopText({ way, gateway }: Hop): string {
  const by = way === "vxlan" ? " by the VXLAN device" : way === "ipip" ? " by the IPIP device" : "";
  return `via ${gateway ?? "the owner's tunnel address"}${by}`;
}

function isExpected(lookup: LookupFact, hop: Hop, host: HostFacts): boolean {
  return (lookup.ways ?? [lookup]).some((taken) => isExpectedWay(taken, hop, host));
}

function isExpectedWay(
  lookup: Pick<LookupFact, "gateway" | "link">,
  { way, gateway }: Hop,
  { links }: HostFacts,
): boolean {
  const kind = links.find(({ name }) => name === lookup.link)?.kind;
  if (way === "vxlan" && kind !== "vxlan") return false;
  if (way === "ipip" && kind !== "ipip") return false;
  if (way === "vxlan") return lookup.gateway === undefined || gateway === undefined || lookup.gateway === gateway;
  return lookup.gateway === gateway;
}

/** What the kernel calls the routes that refuse; ENETUNREACH is that there is none. */
const refusals: { readonly [errno: string]: string | undefined } = {
  EINVAL: "a blackhole route",
  EACCES: "a route that prohibits it",
  EHOSTUNREACH: "an unreachable route",
};

/** Only the default route is left, or none; or that of a block of this node, which lends addresses by routes of their own. */
function isMissing(
  lookup: LookupFact,
  address: string,
  { node, routes }: HostFacts,
  { blocks }: ClusterFacts,
): boolean {
  if (lookup.refused !== undefined) {
    const isLent = blocks.some((block) => block.node === node && isIn(address, block.cidr));
    return isLent || refusals[lookup.refused] === undefined;
  }
  return !routes.some(({ destination }) => !/\/0$/.test(destination) && isIn(address, destination));
}

/** Which interface packets of other nodes arrive on. */
function arrivalLink(way: Hop["way"], { links, addresses }: HostFacts, own: NodeFact): string | undefined {
  if (way !== "plain") return links.find(({ kind }) => kind === way)?.name;
  return addresses.find((each) => bare(each.address) === bare(own.address ?? ""))?.link;
}

/** Answers would leave by another interface than that one, and the kernel minds. */
function isFiltered({ link }: LookupFact, host: HostFacts, arrives: string | undefined): boolean {
  if (arrives === undefined || link === undefined || link === arrives) return false;
  return strictness(host, arrives) === 1;
}

/** The same for the address of another node: then not even the nodes hear each other. */
export function filteredWay(node: string, host: HostFacts, cluster: ClusterFacts): LookupFact | undefined {
  const [own, other] = [nodeNamed(host.node, cluster), nodeNamed(node, cluster)];
  if (own === undefined || other?.address === undefined || cluster.family === 6) return undefined;
  const lookup = host.lookups.find(({ to }) => to === bare(other.address ?? ""));
  const isStray = lookup !== undefined && isFiltered(lookup, host, arrivalLink("plain", host, own));
  return isStray ? lookup : undefined;
}

/** The larger of the two counts. */
function strictness({ sysctls }: HostFacts, link: string): number {
  const value = (name: string) => Number(sysctls[`net.ipv4.conf.${name}.rp_filter`] ?? 0);
  return Math.max(value("all"), value(link));
}

const codes = { missing: "ROUTE_MISSING", wrong: "ROUTE_WRONG", filtered: "REVERSE_PATH_FILTER" } as const;

function describe(group: readonly Wrong[], host: HostFacts, cluster: ClusterFacts): NodeFinding[] {
  const [first] = group;
  if (first === undefined) return [];
  if (first.is === "missing" && hasNoPeers(host, cluster)) return [noPeers(host, cluster)];
  const { is, owner, lookup, expected } = first;
  const { node } = host;
  const addresses = group.map(({ address }) => address).join(", ");
  const refused = lookup.refused === undefined ? undefined : (refusals[lookup.refused] ?? lookup.refused);
  const taken = refused ?? `via ${lookup.gateway ?? "nobody"} dev ${lookup.link ?? "none"}`;
  const drops = host.reversePathDrops ?? 0;
  const explains = (probe: Probe) =>
    (probe.fromNode === node && probe.node === owner) || (probe.fromNode === owner && probe.node === node);
  const what = {
    missing: `${node} has no route to ${addresses} of ${owner}`,
    wrong: `${node} has a route to ${addresses} of ${owner} that leads elsewhere`,
    filtered: `${node} drops packets from ${addresses} of ${owner} on arrival: its way back is ${lookup.link}, and rp_filter is strict`,
  }[is];
  const evidence = [
    `ip route get ${first.address}: ${taken}; it should be ${expected}`,
    ...(is === "filtered" ? [`TcpExtIPReversePathFilter grew by ${drops} while this was looked at`] : []),
  ];
  const pool = poolOf(first.address, cluster.pools);
  const isKept = is === "missing" && host.bird !== undefined && pool?.isUnannounced === true;
  const kept = {
    evidence: [...evidence, `the pool ${pool?.name} has disableBGPExport: true`],
    fix: `cattail ctl patch ippool ${pool?.name} -p '{"spec":{"disableBGPExport":false}}', unless it is meant: then its nodes need another way to each other, as VXLAN`,
  };
  return [finding({ code: codes[is], node, what, evidence, explains, ...(isKept ? kept : {}) })];
}

function hasNoPeers({ bird }: HostFacts, { isMeshOn }: ClusterFacts): boolean {
  return bird !== undefined && bird.silent === undefined && bird.sessions.length === 0 && !isMeshOn;
}

/** Each node without a session says the same, which is told once. */
function noPeers({ node }: HostFacts, { nodes }: ClusterFacts): NodeFinding {
  return finding({
    code: "BGP_NO_PEERS",
    what: "the mesh between the nodes is off (BGPConfiguration default), and no BGPPeer gives them sessions",
    evidence: [`birdc show protocols, on ${node}: no session`, "cattail ctl get bgpconfiguration default -o yaml"],
    explains: ({ fromNode, node: to }) =>
      fromNode !== to && [fromNode, to].every((each) => nodes.some(({ name }) => name === each)),
  });
}

function checkPodRoutes({ node, lookups, links }: HostFacts, { pods }: ClusterFacts): NodeFinding[] {
  return pods
    .filter((pod) => pod.node === node && pod.phase === "Running")
    .flatMap((pod) => {
      const { namespace, name, address } = pod;
      const lookup = lookups.find(({ to }) => to === address);
      const link = interfaceOfPod(pod);
      const own = links.find((each) => each.name === link);
      // A pod of another plugin, or one whose interface is named otherwise, is not ours to judge.
      if (lookup === undefined || lookup.link === link || own === undefined) return [];
      const down = { evidence: [`ip link show ${link}: down`], fix: `ip link set ${link} up, on ${node}` };
      return [
        finding({
          code: "POD_ROUTE_MISSING",
          node,
          what: `${address} of the pod ${namespace}/${name} leads to ${lookup.link ?? refusals[lookup.refused ?? ""] ?? lookup.refused ?? "nowhere"}, and not to its interface ${link}`,
          evidence: [`ip route get ${address}`],
          ...(own.isUp ? {} : down),
          explains: (probe) => probe.address === address || probe.from === `${namespace}/${name}`,
        }),
      ];
    });
}

// BGPPeers: with whom this node peers because of them, and how. Global peers come first, then those of this node, then the other halves of peerings
// that name only one side; of several for one address and port the first one counts. Objects are gone through by name: the original takes
// them as its map happens to hand them out, and which of two peers won changed from start to start.
import { canonicalIp, parseIp } from "../../../base/lib/index.ts";
import type { BgpPeerSpec } from "../../../calico/kinds/index.ts";
import { parseDuration } from "../../../calico/model/index.ts";
import type { BgpCluster } from "./cluster.ts";
import type { BgpProblem, SessionKind } from "./intent.ts";
import type { BgpNode, Named } from "./objects.ts";

/** One address of a peer, with what its BGPPeer says of it. */
export type Peering = {
  readonly kind: SessionKind;
  /** The name of the BGPPeer. */
  readonly peer: string;
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number | undefined;
  readonly asNumber: number;
  readonly localAs: number | undefined;
  readonly usesNodeAddress: boolean;
  readonly isCalicoNode: boolean;
  readonly isPassive: boolean;
  readonly ttlSecurity: number | undefined;
  readonly filters: readonly string[];
  readonly allowedLocalAs: number | undefined;
  readonly reachableBy: string | undefined;
  readonly keepsOriginalNextHop: boolean;
  readonly nextHop: "auto" | "self" | "keep";
  readonly peerClusterId: string | undefined;
  readonly restartSeconds: number | undefined;
  readonly keepaliveSeconds: number | undefined;
  readonly password: SecretRef | undefined;
};

export type SecretRef = { readonly name: string; readonly key: string };

/** A workload on this node that peers with it, as the node's agent writes it down. */
export type LocalWorkload = { readonly peer: string; readonly 4: string | undefined; readonly 6: string | undefined };

type Peer = Named<BgpPeerSpec>;
type Options = {
  readonly cluster: BgpCluster;
  readonly self: BgpNode;
  readonly workloads: readonly LocalWorkload[];
  problem(problem: BgpProblem): void;
};

export function peeringsOf(options: Options): readonly Peering[] {
  const { cluster, self } = options;
  const peers = [...cluster.objects.peers.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const isGlobal = ({ spec }: Peer) => !spec.node && !spec.nodeSelector;
  const found = new Map<string, Peering>();
  const add = (peering: Peering, isExplicit: boolean) => {
    const key = `${peering.address} ${peering.port ?? 0}`;
    const first = found.get(key);
    if (first === undefined) found.set(key, peering);
    else if (isExplicit && first.peer !== peering.peer && saysElse(first, peering))
      options.problem(twice(first, peering));
  };
  for (const peer of peers.filter(isGlobal)) {
    for (const peering of remoteSide(peer, "Global", options)) add(peering, true);
  }
  for (const peer of peers.filter((each) => !isGlobal(each))) {
    if (!localNodes(peer, cluster).includes(self)) continue;
    for (const peering of remoteSide(peer, "Node", options)) add(peering, true);
  }
  for (const peer of peers) for (const peering of otherHalf(peer, options)) add(peering, false);
  return [...found.values()];
}

/** Two BGPPeers that want the same of one address are no problem: overlapping selectors often do. */
function saysElse(first: Peering, second: Peering): boolean {
  const wanted = (peering: Peering) => JSON.stringify({ ...peering, kind: "", peer: "" });
  return wanted(first) !== wanted(second);
}

function twice(first: Peering, second: Peering): BgpProblem {
  return {
    code: "BGP_PEER_TWICE",
    about: `BGPPeer ${second.peer}`,
    says: `${second.address} is a peer by BGPPeer ${first.peer} too, which says something else; ${first.peer} counts`,
  };
}

function localNodes({ spec }: Peer, cluster: BgpCluster): readonly BgpNode[] {
  if (spec.nodeSelector) return cluster.matching(spec.nodeSelector);
  if (!spec.node) return cluster.nodes;
  const node = cluster.objects.nodes.get(spec.node);
  return node === undefined ? [] : [node];
}

function remoteSide(peer: Peer, kind: "Global" | "Node", options: Options): readonly Peering[] {
  const { cluster, workloads } = options;
  const { spec, name } = peer;
  if (spec.localWorkloadSelector)
    return workloads.filter((each) => each.peer === name).flatMap((each) => ofWorkload(peer, each));
  if (spec.peerSelector)
    return cluster.matching(spec.peerSelector).flatMap((node) => ofNode(peer, kind, node, cluster));
  const problem = (says: string): readonly Peering[] => {
    options.problem({ code: "BGP_PEER", about: `BGPPeer ${name}`, says: `${says}; it is left out` });
    return [];
  };
  const at = addressAndPort(spec.peerIP ?? "");
  if (at === undefined) return problem(`its peerIP ${JSON.stringify(spec.peerIP ?? "")} is no address`);
  const gateway = spec.reachableBy ? canonicalIp(spec.reachableBy) : undefined;
  if (spec.reachableBy && (gateway === undefined || parseIp(gateway)?.version !== at.family)) {
    return problem(`its reachableBy ${JSON.stringify(spec.reachableBy)} is no IPv${at.family} address`);
  }
  const [node] = nodesAt(at.address, spec.asNumber ?? 0, at.port, cluster);
  const port = at.port ?? (node === undefined ? undefined : cluster.listenPortOf(node.name));
  return [
    {
      ...common(peer, kind),
      ...at,
      port,
      asNumber: spec.asNumber || cluster.asNumber,
      localAs: spec.localASNumber || undefined,
      isCalicoNode: cluster.withAddress(at.address).length > 0,
      allowedLocalAs: spec.numAllowedLocalASNumbers || undefined,
      reachableBy: gateway,
    },
  ];
}

/** The nodes of the remote side peer with those of the local side, unless that is left to whoever wrote the peer. */
function otherHalf(peer: Peer, options: Options): readonly Peering[] {
  const { cluster, self } = options;
  const { spec } = peer;
  if (spec.reversePeering === "Manual" || spec.localWorkloadSelector) return [];
  const at = spec.peerSelector ? undefined : addressAndPort(spec.peerIP ?? "");
  const remote = spec.peerSelector
    ? cluster.matching(spec.peerSelector)
    : at === undefined
      ? []
      : nodesAt(at.address, spec.asNumber ?? 0, at.port, cluster);
  if (!remote.includes(self)) return [];
  const all = localNodes(peer, cluster).flatMap((node) => ofNode(peer, "Node", node, cluster));
  return at === undefined ? all : all.filter(({ family }) => family === at.family);
}

function ofNode(peer: Peer, kind: "Global" | "Node", node: BgpNode, cluster: BgpCluster): readonly Peering[] {
  return families.flatMap((family) => {
    const address = node.address[family];
    if (address === undefined) return [];
    return [
      {
        ...common(peer, kind),
        family,
        address,
        port: cluster.listenPortOf(node.name),
        asNumber: cluster.asNumberOf(node),
        peerClusterId: node.clusterId,
      },
    ];
  });
}

function ofWorkload(peer: Peer, workload: LocalWorkload): readonly Peering[] {
  return families.flatMap((family) => {
    const address = workload[family];
    if (address === undefined) return [];
    const { spec } = peer;
    return [
      {
        ...common(peer, "Local_Workload"),
        family,
        address,
        port: undefined,
        asNumber: spec.asNumber ?? 0,
        localAs: spec.localASNumber || undefined,
        usesNodeAddress: false,
        isPassive: true,
        // The original reads none of these for a workload.
        ttlSecurity: undefined,
        keepsOriginalNextHop: false,
        nextHop: "auto",
        restartSeconds: undefined,
        keepaliveSeconds: undefined,
        password: undefined,
      },
    ];
  });
}

const families = [4, 6] as const;

function common({ name, spec }: Peer, kind: SessionKind) {
  const { secretKeyRef } = spec.password ?? {};
  return {
    kind,
    peer: name,
    localAs: undefined as number | undefined,
    usesNodeAddress: spec.sourceAddress !== "None",
    isCalicoNode: false,
    isPassive: false,
    ttlSecurity: spec.ttlSecurity || undefined,
    filters: spec.filters ?? [],
    allowedLocalAs: undefined as number | undefined,
    reachableBy: undefined as string | undefined,
    keepsOriginalNextHop: spec.nextHopMode === undefined && spec.keepOriginalNextHop === true,
    nextHop: nextHops[spec.nextHopMode ?? "Auto"] ?? "auto",
    peerClusterId: undefined as string | undefined,
    restartSeconds: secondsOf(spec.maxRestartTime),
    keepaliveSeconds: secondsOf(spec.keepaliveTime),
    password: secretKeyRef === undefined ? undefined : { name: secretKeyRef.name ?? "", key: secretKeyRef.key ?? "" },
  };
}

const nextHops: { readonly [mode: string]: "auto" | "self" | "keep" } = { Auto: "auto", Self: "self", Keep: "keep" };

export function secondsOf(duration: string | undefined): number | undefined {
  const nanoseconds = duration === undefined ? undefined : parseDuration(duration);
  return nanoseconds === undefined ? undefined : Math.max(0, Math.round(Number(nanoseconds) / 1e9));
}

/** 10.0.0.1, 10.0.0.1:1790, fd00::1, [fd00::1]:1790. */
function addressAndPort(text: string): { address: string; family: 4 | 6; port: number | undefined } | undefined {
  const [, bracketed, four, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = canonicalIp(bracketed ?? four ?? text);
  const family = parseIp(address ?? "")?.version;
  if (address === undefined || family === undefined) return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65535)) return undefined;
  return { address, family, port: number };
}

/** AS 0 means the cluster's. A port must be the one that the node listens on; where none is set, the original takes any. */
function nodesAt(address: string, asNumber: number, port: number | undefined, cluster: BgpCluster): readonly BgpNode[] {
  const wanted = asNumber || cluster.asNumber;
  return cluster.withAddress(address).filter((node) => {
    if (cluster.asNumberOf(node) !== wanted) return false;
    return port === undefined || port === (cluster.listenPortOf(node.name) ?? port);
  });
}

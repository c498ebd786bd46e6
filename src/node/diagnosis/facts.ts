// What a diagnosis is made from: the cluster as the datastore tells it, and each host as its kernel, its files and a few probes tell it. All of it
// is JSON, so that the facts of one host can be looked at on another. These are the facts of one family of addresses, as the checks see them;
// families.ts has those of both, as they are read.
import type { Family } from "../../base/lib/index.ts";

/** What the datastore says. */
export type ClusterFacts = {
  readonly family: Family;
  /** Undefined: nobody has said so yet. */
  readonly datastoreReady: boolean | undefined;
  readonly nodes: readonly NodeFact[];
  readonly pools: readonly PoolFact[];
  readonly blocks: readonly BlockFact[];
  readonly affinities: readonly AffinityFact[];
  readonly pods: readonly PodFact[];
  readonly isMeshOn: boolean;
  /** Of IPv6, where some have: nodes that have one IPv4 address, by it. BIRD takes that for its identifier, and two of the same make no session. */
  readonly identifiers?: ReadonlyMap<string, readonly string[]>;
  readonly serviceRanges: readonly string[];
  /** What could not be read, in the datastore's words. */
  readonly unreadable: readonly Unreadable[];
};

export type Unreadable = { readonly what: string; readonly why: string; readonly rule?: string };

export type NodeFact = {
  readonly name: string;
  /** With the length of its network, as the node wrote it. */
  readonly address?: string;
  readonly internalAddresses: readonly string[];
  readonly tunnelAddress?: string;
  readonly provider?: string;
};

export type Encapsulation = "Never" | "CrossSubnet" | "Always";

export type PoolFact = {
  readonly name: string;
  readonly cidr: string;
  readonly vxlan: Encapsulation;
  readonly ipip: Encapsulation;
  readonly isDisabled: boolean;
  /** Its routes are not told to BGP peers (disableBGPExport). */
  readonly isUnannounced?: boolean;
};

export type BlockFact = { readonly cidr: string; readonly node?: string; readonly inUse: number };
export type AffinityFact = { readonly cidr: string; readonly node: string; readonly state: string };

export type PodFact = {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly address?: string;
  /** Its interface on the node; undefined: the one that is derived from its name. */
  readonly link?: string;
  readonly phase: string;
  /** By their names or networks, where its annotation asks for pools. */
  readonly asksForPools: readonly string[];
};

/** `from` is a node or a pod (NAMESPACE/NAME), `to` a pod. */
export type PingVerdict = {
  readonly family: Family;
  readonly from: string;
  readonly to: string;
  readonly verdict: "allow" | "deny";
  /** Who decided, where it is denied. */
  readonly by?: string;
};

/** What a host says of itself. */
export type HostFacts = {
  readonly node: string;
  /** Where that name comes from. */
  readonly nameFrom: string;
  readonly links: readonly LinkFact[];
  readonly addresses: readonly { readonly link: string; readonly address: string }[];
  readonly routes: readonly RouteFact[];
  /** What the kernel does with a packet to an address. */
  readonly lookups: readonly LookupFact[];
  readonly sysctls: { readonly [name: string]: string };
  /** Chains of others that drop what is forwarded. */
  readonly foreignDrops: readonly ForeignDrop[];
  /** Rules of others that may drop some packets: asked only where one has no answer. Absent: of an older doctor. */
  readonly suspects?: readonly SuspectRule[];
  /** Hardware addresses that the kernel has for nodes, tunnels and pods. */
  readonly neighbours?: readonly NeighbourFact[];
  /** Behind which node a tunnel's hardware address is. */
  readonly tunnelEntries?: readonly TunnelEntry[];
  /** Of pods of this host that do not answer it: what is wrong inside. */
  readonly podTroubles?: readonly { readonly pod: string; readonly says: string }[];
  readonly conntrack?: { readonly count: number; readonly max: number };
  /** Whose rules are in the kernel: ours, the original's, or both. */
  readonly ruleOwners: readonly ("cattail" | "calico")[];
  readonly bird?: BirdFacts;
  readonly cni: CniFacts;
  /** Undefined: nobody can tell whether there should be one. */
  readonly agent?: AgentFact;
  /** What the kernel would do with packets of pods whose pings had no answer. */
  readonly podLookups?: readonly PodLookup[];
  /** Rules of routing that a kernel does not have by itself, as `ip rule` shows them. */
  readonly rules?: readonly string[];
  /** Packets that the reverse path filter dropped while this was looked at. */
  readonly reversePathDrops?: number;
  /** Segments of TCP that were dropped meanwhile because of their MD5 signature: a session's password that the other side does not have. */
  readonly signatureDrops?: number;
  readonly probes: readonly Probe[];
  /** What policies make of the pings that had no answer. */
  readonly verdicts: readonly PingVerdict[];
  readonly typha?: TyphaFact;
  readonly features: readonly { readonly name: string; readonly isThere: boolean; readonly says: string }[];
  readonly notLookedAt: readonly NotLookedAt[];
};

export type LinkFact = {
  readonly name: string;
  readonly kind?: string;
  readonly isUp: boolean;
  readonly mtu: number;
  readonly mac?: string;
};

export type NeighbourFact = { readonly link: string; readonly address: string; readonly mac: string };
export type TunnelEntry = { readonly link: string; readonly mac: string; readonly to: string };

export type RouteFact = {
  readonly destination: string;
  readonly type: string;
  readonly protocol: string;
  readonly gateway?: string;
  readonly link?: string;
};

export type LookupFact = {
  readonly to: string;
  readonly type?: string;
  readonly gateway?: string;
  readonly link?: string;
  /** Of a route with several ways: all of them; gateway and link are the first's. */
  readonly ways?: readonly { readonly gateway?: string; readonly link?: string }[];
  /** The kernel's word where there is no way: ENETUNREACH. */
  readonly refused?: string;
};

/** Of packets from one pod to another, on the interface that they arrive on. */
export type PodLookup = Pick<LookupFact, "to" | "gateway" | "link" | "refused"> & {
  readonly from: string;
  readonly arrives: string;
};

/** Where somebody listens, or nobody does. */
export type AgentFact = { readonly asked: readonly string[]; readonly isThere: boolean };

export type ForeignDrop = {
  readonly families: readonly Family[];
  readonly table: string;
  readonly chain: string;
  readonly what: "its policy is drop" | "a rule drops everything";
  /** How to see it. */
  readonly command: string;
};

export type Hook = "ingress" | "prerouting" | "input" | "forward" | "output" | "postrouting";

/** What a rule asks of a packet, as far as it can be told beforehand. */
export type RuleCondition = { readonly isNot: boolean } & (
  | { readonly on: "source" | "destination"; readonly networks: readonly string[] }
  | { readonly on: "interface in" | "interface out"; readonly names: readonly string[] }
  | { readonly on: "protocol"; readonly names: readonly string[] }
  | { readonly on: "source port" | "destination port"; readonly ports: readonly (readonly [number, number])[] }
);

export type SuspectRule = {
  readonly families: readonly Family[];
  readonly table: string;
  readonly chain: string;
  /** Undefined: it may be reached from several. */
  readonly hook?: Hook;
  readonly rule: string;
  readonly conditions: readonly RuleCondition[];
  /** Packets that an earlier rule of the chain accepts. */
  readonly unless: readonly (readonly RuleCondition[])[];
  /** Packets that it dropped while this was looked at. Undefined: it does not count. */
  readonly grew?: number;
  readonly command: string;
};

export type BirdFacts = {
  readonly socket: string;
  /** Undefined: it answers. */
  readonly silent?: string;
  readonly sessions: readonly { readonly address: string; readonly state: string; readonly info: string }[];
  /** Routes are kept back until all peers are heard, in BIRD's words. */
  readonly waits?: string;
  /** Of a daemon for both families: only sessions of the other one are not up, so that one has to be told. */
  readonly isWaitOfOtherFamily?: boolean;
};

export type CniFacts = {
  readonly file?: string;
  /** As the file says it; 0 or absent: the agent's file decides. */
  readonly mtu?: number;
  /** The plugin that gives addresses, by its type. */
  readonly ipam?: string;
  /** A configuration of another plugin that the runtime takes before it. */
  readonly before?: { readonly file: string; readonly type: string };
  /** Of the programs that the configuration names: those which are in none of the folders. */
  readonly missingPrograms?: readonly string[];
  readonly programFolders?: readonly string[];
  readonly nodeNameFile?: string;
  readonly mtuFile?: number;
  /** Why the plugin passes over an agent's socket: somebody else could put his own in its place. */
  readonly unsafeSocket?: string;
  /** Rights that the plugin uses and its account lacks. */
  readonly missingRights?: readonly Unreadable[];
  readonly credentials?: {
    readonly file: string;
    /** Milliseconds since 1970. */
    readonly expiresMs?: number;
    readonly of?: "certificate" | "token";
    /** Why it cannot be used at all: no file, no YAML. */
    readonly broken?: string;
  };
};

export type TyphaFact = { readonly address: string; readonly problem?: string };

export type ProbeKind =
  /** This node to another's address. */
  | "node"
  /** The same, as large as the interface takes it, in one piece. */
  | "large"
  /** This node to a pod, here or elsewhere. */
  | "pod"
  /** To a pod elsewhere with one hop: its node says that it arrived. */
  | "arrival"
  /** A connection to another node's BGP port. */
  | "bgp"
  /** From a pod of this node to another pod. */
  | "pod to pod";

export type Probe = {
  readonly kind: ProbeKind;
  /** The node, or the pod NAMESPACE/NAME. */
  readonly from: string;
  readonly fromNode: string;
  readonly to: string;
  readonly address: string;
  /** Where `to` is. */
  readonly node: string;
  readonly ok: boolean;
  /** Of "large": the longest packet that passed, headers included. */
  readonly largest?: number;
  readonly tried?: number;
  readonly says?: string;
};

export type NotLookedAt = { readonly what: string; readonly why: string; readonly command?: string };

export type Facts = {
  readonly cluster: ClusterFacts;
  readonly hosts: readonly HostFacts[];
  readonly nowMs: number;
};

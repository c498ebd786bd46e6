// The JSON that the dashboard serves and its page reads. Types only: web/ may import this file and nothing else of
// src/, so that what crosses the wire is written down once.

export type SyncerState = "waiting for the datastore" | "resyncing" | "in sync";

export type SyncerView = { syncer: string; state: SyncerState; keys: number; bytes: number; clients: number };

export type CertificateView = { file: string; subject: string; issuer: string; expiresAtMs: number; problem?: string };

/** Something an operator should know, in plain words, with what to do about it. */
export type AttentionView = {
  severity: "problem" | "warning";
  what: string;
  why: string;
  fix: string;
  /** The view that shows more of it. */
  look?: "nodes" | "watches";
};

export type HistoryView = {
  /** Oldest first; the four lists have one entry per sample. */
  timesMs: number[];
  updatesPerSecond: number[];
  deliveryP50Ms: (number | null)[];
  deliveryP99Ms: (number | null)[];
};

export type OverviewView = {
  version: string;
  nowMs: number;
  startedAtMs: number;
  address: string;
  workers: number;
  ready: boolean;
  /** Why it is not ready, part by part. */
  notReady: string[];
  /** When the clients were last asked about: the list of nodes is worth asking for again when this moves. */
  clientsAtMs: number;
  datastore: { type: string; state: "reachable" | "unreachable" | "starting"; detail: string };
  syncers: SyncerView[];
  keysByKind: { kind: string; keys: number; bytes: number }[];
  /** This one and the others, as far as the datastore and the settings tell. */
  servers: number;
  /** The other servers that did not say which nodes they have: a node that is not here may be there. */
  unheardServers: UnheardServer[];
  /** Of all servers that were heard. */
  nodes: {
    expected: number;
    /** Connected to this server. */
    here: number;
    /** Connected to another server. */
    elsewhere: number;
    upToDate: number;
    missing: string[];
    behind: string[];
    /** Not here, and not every other server was heard. */
    unknown: number;
  };
  /** All connections here: of nodes, which have one for each data set they follow, and of other programs. */
  connections: number;
  /** Programs that follow this server and are no node's agent: `cattail watch`, a program of your own. */
  otherClients: number;
  certificates: CertificateView[];
  attention: AttentionView[];
  history: HistoryView;
};

export type ConnectionView = {
  id: string;
  syncer: string;
  address: string;
  version: string;
  info: string;
  compression: string;
  policyKeys: string;
  connectedSinceMs: number;
  state: string;
  lagUpdates: number;
  lagMs: number;
  /** Round trip of a ping, or how long one has been unanswered; null before the first. */
  answersAfterMs: number | null;
  bytesSent: number;
  queuedBytes: number;
};

/** "unknown": not connected here, and there is another server that did not say which nodes it has. */
export type NodeState = "not connected" | "behind" | "starting" | "up to date" | "unknown";

export type NodeView = {
  node: string;
  state: NodeState;
  /** In the datastore. A connected agent of no known node is shown too. */
  expected: boolean;
  /** To this server. */
  connections: ConnectionView[];
  /** The other server that it is connected to, host:port. */
  server: string | null;
};

/** A program that is no node's agent. `host` is what it says its machine is called. */
export type OtherClientView = { host: string; connection: ConnectionView };

export type UnheardServer = { server: string; why: string };

export type NodesView = { nodes: NodeView[]; others: OtherClientView[] };

/** `changedAtMs` is null for what this server took no note of. */
export type KeyRow = { path: string; kind: string; bytes: number; revision: string; changedAtMs: number | null };
export type KeysView = { syncer: string; total: number; offset: number; rows: KeyRow[] };

export type KeyHistoryEntry = {
  atMs: number;
  change: "new" | "updated" | "deleted" | "invalid";
  revision: string;
  bytes: number;
};

export type KeyView = KeyRow & {
  syncer: string;
  value: string | null;
  history: KeyHistoryEntry[];
  /** A time is null where it has not come yet, or is no longer known. */
  trace: {
    receivedAtMs: number | null;
    cachedAtMs: number | null;
    firstWriteAtMs: number | null;
    lastWriteAtMs: number | null;
    clients: number;
    clientsBehind: number;
    slowestClient: string | null;
  };
};

export type PolicyView = {
  path: string;
  kind: string;
  namespace: string;
  name: string;
  order: number | null;
  selector: string;
  types: string[];
  staged: boolean;
  inboundRules: number;
  outboundRules: number;
};

export type EndpointView = {
  path: string;
  node: string;
  name: string;
  addresses: string[];
  labels: { [label: string]: string };
  /** Labels that come from the endpoint's profiles (namespace, service account). */
  inheritedLabels: { [label: string]: string };
  profiles: string[];
  tiers: { tier: string; order: number | null; defaultAction: string; policies: PolicyView[] }[];
  unparsable: { path: string; why: string }[];
};

/** May these two talk, and which rule says so: what `cattail explain` prints. */
export type ExplainView =
  | { is: "refused"; problem: string; next: string }
  | {
      is: "answered";
      source: string;
      destination: string;
      traffic: string;
      /** One, or one for each group of ports with the same answer. */
      answers: ExplainedView[];
      /** What would turn the verdict round; null where nothing would, or where it depends on the port. */
      change: string | null;
      /** Where staged policies would make a difference, if they were enforced. */
      staged: ExplainedView[];
    };

export type ExplainedView = {
  ports: string | null;
  verdict: "allow" | "deny";
  stages: { where: string; outcome: string; lines: string[] }[];
};

export type PoolView = {
  cidr: string;
  encapsulation: string;
  isDisabled: boolean;
  natOutgoing: boolean;
  /** Decimal: a pool of IPv6 has more addresses than a number can count. */
  size: string;
  blocks: number;
  used: number;
};

/** `node` is null for a block that no node has any more. */
export type BlockView = { path: string; cidr: string; node: string | null; size: number; used: number };

/** An address that is held for a pod which has no endpoint with it. */
export type HeldInVain = { address: string; pod: string; node: string };

export type AddressesView = {
  pools: PoolView[];
  /** The fullest first; not all of very many. */
  blocks: BlockView[];
  blockTotal: number;
  inVain: HeldInVain[];
  inVainTotal: number;
  /** What the last audits found, of the nodes that make one and say so. */
  audits: { node: string; atMs: number; findings: number; says: string[] }[];
};

export type WatchView = {
  kind: string;
  state: string;
  objects: number;
  lastEventAtMs: number | null;
  restarts: number;
  relists: number;
  /** With its time: an error that is over is worth a look, not an alarm. */
  lastError: { message: string; atMs: number; isOver: boolean } | null;
  rights: "granted" | "forbidden" | "missing";
  /** What to grant, as YAML, where rights are lacking. */
  missingRule: string | null;
};

/**
 * How a node is, as far as somebody says so. "report": its agent was asked. "status": a CalicoNodeStatus object says it. "none": nobody has (yet).
 */
export type NodeHealthView = {
  node: string;
  address: string | null;
  pods: number;
  source: "report" | "status" | "none";
  /** When that was said. */
  atMs: number | null;
  /** Its agent does not answer, and since when. What was heard before is still shown. */
  silent: { why: string; sinceMs: number } | null;
  health: HealthWord | null;
  /** Why it is not well, the first reason first. */
  reasons: string[];
  version: string;
  sessions: { up: number; all: number } | null;
  routes: { right: number; wrong: number } | null;
};

export type HealthWord = "well" | "not ready" | "not live";

export type HealthView = {
  /** Null: nodes are asked. Else why they are not. */
  notAsked: string | null;
  /** Of how many nodes something is known. */
  known: number;
  nodes: NodeHealthView[];
};

export type NodePageView = NodeHealthView & {
  startedAtMs: number | null;
  notAsked: string | null;
  components: { name: string; isLive: boolean; isReady: boolean; detail: string }[];
  daemons: BgpDaemonView[];
  /** Not all of very many; those that are not right are the first. Null: nobody says. */
  routeRows: RouteRowView[] | null;
  /** What the last audit of addresses found, where this node makes it. */
  audit: { atMs: number; findings: number; says: string[] } | null;
};

export type BgpDaemonView = {
  family: 4 | 6;
  /** Why it does not answer; empty: it does. */
  silent: string;
  version: string;
  routerId: string;
  bootTime: string;
  reconfiguredTime: string;
  /** `node`: whose address that is. */
  sessions: readonly { address: string; kind: string; state: string; since: string; node?: string }[];
};

export type RouteRowView = {
  destination: string;
  node: string;
  expected: string;
  actual: string;
  state: "right" | "other" | "missing" | "wrong" | "waiting";
  why: string;
};

export type HitsView = { allowed: number; denied: number; passed: number };

export type PolicyHitsView = PolicyView & {
  tier: string;
  hits: HitsView;
  rules: {
    direction: "ingress" | "egress";
    number: number;
    text: string;
    packets: number;
    bytes: number;
    /** The nodes with the most packets. */
    nodes: { node: string; packets: number }[];
  }[];
};

export type PoliciesView = {
  notAsked: string | null;
  /** Nodes that have said what their rules have counted, and nodes that were to be asked. */
  counted: { heard: number; of: number; silent: string[] };
  policies: PolicyHitsView[];
  /** Not all of very many. */
  total: number;
  /** What is decided by no policy: profiles, ends of tiers, endpoints that are not known. */
  others: { what: string; action: string; packets: number }[];
};

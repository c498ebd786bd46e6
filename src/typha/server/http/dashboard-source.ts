// The running server as the dashboard shows it. Only made where the dashboard is switched on, and only asked while a page
// is open, but for the samples of its plots.

import { type FollowReport, manifestProblemText } from "../../../calico/datastore/index.ts";
import { type SyncerType, syncerTypes } from "../../../calico/model/index.ts";
import {
  type CertificateView,
  type ConnectionView,
  type DashboardSource,
  isAgent,
  type KeyQuery,
  type KeysView,
  type KeyView,
  type NodesView,
  type NodeView,
  nodeState,
  type OverviewView,
  type Pace,
  Paced,
  type SyncerView,
  type WatchView,
} from "../../dashboard/index.ts";
import type { ClientReport } from "../../fanout/index.ts";
import { workerCount } from "../connections/server-limits.ts";
import type { Neighbourhood } from "../peers/neighbours.ts";
import type { TyphaParts } from "../typha-parts.ts";
import { nodeReportsOf } from "./ask-node.ts";

const statusPrefix = "/calico/resources/v3/projectcalico.org/caliconodestatuses/";

type Clients = NodesView & {
  readonly reports: readonly ClientReport[];
  readonly neighbours: Neighbourhood;
  readonly atMs: number;
};

const syncerStates = ["waiting for the datastore", "resyncing", "in sync"] as const;
/** Every report crosses from its thread to this one, which is most of what the page costs with thousands of clients. */
const reportPace = {
  leastMs: 1000,
  perClientMs: 2.5,
  /** So that whoever asks once a second is not always just too early. */
  earlyMs: 50,
};
const kindsPace: Pace = { leastMs: 900, mostMs: Number.POSITIVE_INFINITY, timesCost: 200, since: "answered" };

export class TyphaDashboard implements DashboardSource {
  readonly #parts: TyphaParts;
  readonly #since = new Map<SyncerType, number>();
  readonly #clients: Paced<Clients>;
  readonly #kinds: Paced<OverviewView["keysByKind"]>;
  readonly felix: DashboardSource["felix"];
  readonly nodeReports: DashboardSource["nodeReports"];

  constructor(parts: TyphaParts) {
    this.#parts = parts;
    const nowMs = () => parts.options.clock.monotonicMs();
    this.#clients = new Paced(nowMs);
    this.#kinds = new Paced(nowMs);
    this.nodeReports = nodeReportsOf(parts);
    const { introspection } = parts;
    this.felix = {
      get: (path) => introspection.value("felix", path),
      withPrefix: (prefix) => introspection.valuesWithPrefix("felix", prefix),
      paths: (prefix) => introspection.pathsWithPrefix("felix", prefix),
    };
  }

  async sample(): ReturnType<DashboardSource["sample"]> {
    const { introspection } = this.#parts;
    const deliveries = await introspection.deliveries(this.#since);
    const [deliveryP50Ms = null, deliveryP99Ms = null] = quantiles(deliveries, [0.5, 0.99]);
    return { updatesTotal: introspection.updates, deliveryP50Ms, deliveryP99Ms };
  }

  async facts(): ReturnType<DashboardSource["facts"]> {
    const { options, settings, server, contact, health, startedAtMs } = this.#parts;
    const { reports, neighbours, atMs } = await this.#look();
    const { is: state, detail } = contact.state;
    const { ready, components } = health.summary();
    const { host, port } = server.address;
    return {
      version: options.version,
      startedAtMs,
      address: `${host === "" ? "all addresses, port " : `${host}:`}${port}`,
      workers: workerCount(settings),
      ready,
      notReady: components.filter((part) => part.ready !== "yes" && part.ready !== "unreported").map(inWords),
      clientsAtMs: atMs,
      servers: 1 + neighbours.servers,
      unheardServers: neighbours.unheard.map(({ server, why }) => ({ server, why })),
      datastore: { type: settings.datastoreType, state, detail },
      syncers: syncerTypes.map((syncer) => this.#syncer(syncer, reports)),
      keysByKind: await this.#kindFacts(),
      connections: reports.length,
      certificates: this.#certificates(),
    };
  }

  async nodes(): Promise<NodesView> {
    const { nodes, others } = await this.#look();
    return { nodes, others };
  }

  statuses(): ReturnType<DashboardSource["statuses"]> {
    return this.#parts.introspection.valuesWithPrefix("node-status", statusPrefix);
  }

  watches(): WatchView[] {
    return this.#parts.syncers.reports().map(watchView);
  }

  invalidObjects(): ReturnType<DashboardSource["invalidObjects"]> {
    return this.#parts.syncers.stats().listProblems(1000);
  }

  manifestProblems(): string[] {
    return (this.#parts.datastore.problems?.() ?? []).map(manifestProblemText);
  }

  keys({ syncer, ...query }: KeyQuery): KeysView {
    const known = syncerTypes.find((name) => name === syncer);
    if (known === undefined) return { syncer, total: 0, offset: query.offset, rows: [] };
    return { syncer, offset: query.offset, ...this.#parts.introspection.keys({ ...query, syncer: known }) };
  }

  async key(syncer: string, path: string): Promise<KeyView | undefined> {
    const known = syncerTypes.find((name) => name === syncer);
    const detail =
      known === undefined ? undefined : await this.#parts.introspection.key(known, path, await this.#look());
    if (detail === undefined) return undefined;
    const history = detail.history.map(({ receivedAtMs: atMs, change, revision, bytes }) => ({
      ...{ atMs, change, revision, bytes },
    }));
    return { ...detail, history };
  }

  async #look(): Promise<Clients> {
    const { leastMs, perClientMs, earlyMs } = reportPace;
    const waitMs = Math.max(leastMs, perClientMs * this.#parts.server.activeCount) - earlyMs;
    const pace: Pace = { leastMs: waitMs, mostMs: waitMs, timesCost: 0, since: "asked" };
    return (await this.#clients.get("", () => this.#ask(), pace)).value;
  }

  async #ask(): Promise<Clients> {
    const { server, introspection, neighbours: exchange, options } = this.#parts;
    const [known, neighbours] = await Promise.all([server.clients(), exchange.look()]);
    const reports = known.filter(({ syncer }) => syncer !== undefined);
    const isEveryServerHeard = neighbours.unheard.length === 0;
    const agents = introspection.nodesOf(reports.filter(isAgent));
    const nodes = agents.map(({ node, isExpected: expected, clients }): NodeView => {
      const connections = clients.map(connectionView);
      const elsewhere = connections.length === 0 ? neighbours.nodes.get(node) : undefined;
      const state = nodeState({ connections, elsewhere: elsewhere?.state, isEveryServerHeard });
      return { node, expected, connections, state, server: elsewhere?.server ?? null };
    });
    const others = reports.filter((report) => !isAgent(report));
    return {
      reports,
      neighbours,
      nodes,
      others: others.map((report) => ({ host: report.node, connection: connectionView(report) })),
      atMs: options.clock.wallMs(),
    };
  }

  #syncer(syncer: SyncerType, reports: readonly ClientReport[]): SyncerView {
    const cache = this.#parts.server.cache(syncer);
    const clients = reports.filter((report) => report.syncer === syncer).length;
    const state = syncerStates[cache?.status ?? 0];
    return { syncer, state, keys: cache?.size ?? 0, bytes: cache?.stats.pieceBytes ?? 0, clients };
  }

  // Looks at every key, so it is done the less often the longer it takes.
  async #kindFacts(): Promise<OverviewView["keysByKind"]> {
    const make = async () => this.#parts.introspection.kinds("felix").map((kind) => ({ ...kind }));
    return (await this.#kinds.get("", make, kindsPace)).value;
  }

  #certificates(): CertificateView[] {
    const { tls } = this.#parts;
    if (tls === undefined) return [];
    const { material } = tls.state();
    const fileOf = (role: "certificate" | "ca") => tls.files.find((file) => file.role === role)?.path ?? role;
    const view = ({ subject, issuer, notAfterMs: expiresAtMs }: (typeof material)["certificate"]) => ({
      ...{ subject, issuer, expiresAtMs },
    });
    const problem = tls.problem();
    return [
      { file: fileOf("certificate"), ...view(material.certificate), ...(problem === undefined ? {} : { problem }) },
      ...material.authorities.map((authority) => ({ file: fileOf("ca"), ...view(authority) })),
    ];
  }
}

function inWords({ name, ready, detail }: { name: string; ready: string; detail: string }): string {
  if (ready === "timed out") return `${name} has stopped reporting`;
  return detail === "" ? `${name} is not ready` : `${name}: ${detail}`;
}

function connectionView(report: ClientReport): ConnectionView {
  const { address, version, info, compression, policyKeys, lagUpdates, lagMs, bytesSent, queuedBytes } = report;
  return {
    ...{ address, version, info, compression, policyKeys, lagUpdates, bytesSent, queuedBytes },
    id: report.id.toString(),
    syncer: report.syncer ?? "",
    connectedSinceMs: report.connectedAtMs,
    state: report.phase,
    lagMs: Math.round(lagMs),
    answersAfterMs: report.pingMs === undefined ? null : Math.round(report.pingMs),
  };
}

function watchView(report: FollowReport): WatchView {
  const { kind, state, objects, lastEventAtMs, relists, watchesOpened, lastError, missingRule } = report;
  return {
    ...{ kind, state, objects, relists },
    lastEventAtMs: lastEventAtMs ?? null,
    restarts: Math.max(0, watchesOpened - 1),
    lastError:
      lastError === undefined ? null : { message: lastError.message, atMs: lastError.atMs, isOver: isCalm(state) },
    rights: state === "forbidden" || state === "missing" ? state : "granted",
    missingRule: missingRule ?? null,
  };
}

function isCalm(state: FollowReport["state"]): boolean {
  return state === "watching" || state === "polling" || state === "missing";
}

/** Of weighted values; empty where there are none. */
function quantiles(values: readonly { ms: number; clients: number }[], ranks: readonly number[]): number[] {
  const sorted = values.toSorted((left, right) => left.ms - right.ms);
  const total = sorted.reduce((sum, { clients }) => sum + clients, 0);
  if (total === 0) return [];
  return ranks.map((rank) => {
    let seen = 0;
    for (const { ms, clients } of sorted) {
      seen += clients;
      if (seen >= rank * total) return ms;
    }
    return sorted.at(-1)?.ms ?? 0;
  });
}

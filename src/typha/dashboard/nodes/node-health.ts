// How the nodes are: what their agents say when they are asked (calico/node-report), and what CalicoNodeStatus objects say of those that are not, or do
// not answer. One answer for the list, one for the page of a node.
import { type Clock, parseJson } from "../../../base/lib/index.ts";
import { type NodeReport, readNodeReport, readRouteRows, reportPaths } from "../../../calico/node-report/index.ts";
import { type NodeFacts, nodeOfPath, readNode } from "../../../calico/routing/index.ts";
import type {
  AddressesView,
  BgpDaemonView,
  HealthView,
  NodeHealthView,
  NodePageView,
  RouteRowView,
} from "../contract.ts";
import type { FelixKeys } from "../endpoint-policies.ts";
import type { DashboardSource } from "../source.ts";
import { blocksOf, type NodeStatus, nodeStatuses, routeRows } from "./node-status.ts";
import { type Heard, Sweep, type Target } from "./sweep.ts";

type Source = Pick<DashboardSource, "felix" | "statuses" | "nodeReports">;

const everyMs = 5_000;
/** On the page of one node it is asked more often. */
const pageAgeMs = 1_500;

export class NodeHealth {
  readonly #source: Source;
  readonly #reports: Sweep<NodeReport>;
  readonly #routes: Sweep<RouteRowView[]>;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#reports = new Sweep({ ask: (target) => this.#report(target), clock, everyMs });
    this.#routes = new Sweep({
      ask: async (target) => readRouteRows(await this.#ask(target, reportPaths.routes)),
      clock,
      everyMs,
    });
  }

  /** Nobody says anything of any node, and nobody is asked. */
  get isMute(): boolean {
    const [any] = this.#source.statuses();
    return this.#source.nodeReports.is === "off" && any === undefined;
  }

  list(): HealthView {
    const { felix, nodeReports } = this.#source;
    const known = nodesIn(felix);
    const heard = nodeReports.is === "on" ? this.#reports.look(targetsOf(known)) : new Map<string, Heard<NodeReport>>();
    const statuses = nodeStatuses(this.#source.statuses());
    const pods = podsByNode(felix);
    const hasRoutes = [...statuses.values()].some(({ routes }) => routes !== null);
    const blocks = hasRoutes ? blocksOf(felix) : [];
    const cluster = { blocks, addressOf: (node: string) => addressOf(known.get(node)) };
    const nodes = [...known.keys()].map((node) => {
      const about = { node, address: addressOf(known.get(node)) ?? null, pods: pods.get(node) ?? 0 };
      const status = statuses.get(node);
      const routes = status?.routes ? routeRows(node, status.routes, cluster) : null;
      return viewOf(about, heard.get(node), status === undefined ? undefined : { ...status, rows: routes });
    });
    return { notAsked: notAsked(nodeReports), known: nodes.filter(({ source }) => source !== "none").length, nodes };
  }

  /** Of the nodes that look through the addresses of the cluster, mostly one or none. */
  audits(): AddressesView["audits"] {
    const { felix, nodeReports } = this.#source;
    if (nodeReports.is === "off") return [];
    return [...this.#reports.look(targetsOf(nodesIn(felix)))].flatMap(([node, { value }]) =>
      value?.audit ? [{ node, ...value.audit, says: [...value.audit.says] }] : [],
    );
  }

  async page(node: string): Promise<NodePageView | undefined> {
    const { felix, nodeReports } = this.#source;
    const known = nodesIn(felix);
    const facts = known.get(node);
    if (!known.has(node)) return undefined;
    const address = addressOf(facts);
    const isAsked = nodeReports.is === "on" && address !== undefined;
    const target = { node, address: address ?? "" };
    const heard = isAsked ? await this.#reports.one(target, pageAgeMs) : {};
    const hasRoutes = heard.value !== undefined && heard.value.routes !== null && heard.problem === undefined;
    const rows = hasRoutes ? (await this.#routes.one(target, pageAgeMs)).value : undefined;
    const status = nodeStatuses(this.#source.statuses()).get(node);
    const cluster = { blocks: blocksOf(felix), addressOf: (name: string) => addressOf(known.get(name)) };
    const statusRows = status?.routes ? routeRows(node, status.routes, cluster) : null;
    const about = { node, address: address ?? null, pods: podsByNode(felix).get(node) ?? 0 };
    const { value } = heard;
    const daemons: readonly BgpDaemonView[] = value?.bgp ?? status?.daemons ?? [];
    return {
      ...viewOf(about, heard, status === undefined ? undefined : { ...status, rows: statusRows }),
      notAsked: address === undefined ? "the datastore has no address of it" : notAsked(nodeReports),
      startedAtMs: value?.startedAtMs ?? null,
      components: (value?.components ?? []).map((one) => ({ ...one })),
      daemons: daemons.map((daemon) => withNodes(daemon, known)),
      routeRows: rows ?? statusRows?.toSorted(badFirst) ?? null,
      audit: value?.audit ? { ...value.audit, says: [...value.audit.says] } : null,
    };
  }

  async #report(target: Target): Promise<NodeReport> {
    const report = readNodeReport(await this.#ask(target, reportPaths.node));
    // Two machines with one address, or an object that was written by another node than its own.
    if (report.node !== target.node)
      throw new Error(`at ${target.address} answers ${report.node || "a node without a name"}, not ${target.node}`);
    return report;
  }

  #ask(target: Target, path: string): Promise<string> {
    const { nodeReports } = this.#source;
    return nodeReports.is === "on" ? nodeReports.ask(target, path) : Promise.reject(new Error(nodeReports.why));
  }
}

export function notAsked(reports: DashboardSource["nodeReports"]): string | null {
  return reports.is === "on" ? null : reports.why;
}

/** By name, those without an address too. */
export function nodesIn(felix: FelixKeys): Map<string, NodeFacts | undefined> {
  const found = new Map<string, NodeFacts | undefined>();
  for (const { path, value } of felix.withPrefix("/calico/resources/v3/projectcalico.org/nodes/")) {
    const name = nodeOfPath(path);
    if (name !== undefined) found.set(name, readNode(name, parsed(value)));
  }
  return found;
}

export function targetsOf(known: ReadonlyMap<string, NodeFacts | undefined>): Target[] {
  return [...known].flatMap(([node, facts]) => {
    const address = addressOf(facts);
    return address === undefined ? [] : [{ node, address }];
  });
}

function addressOf(facts: NodeFacts | undefined): string | undefined {
  return facts?.[4]?.address ?? facts?.[6]?.address;
}

function podsByNode(felix: FelixKeys): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of felix.paths("/calico/v1/host/")) {
    const [, , , , node = "", what] = path.split("/");
    if (what === "workload") counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

type About = Pick<NodeHealthView, "node" | "address" | "pods">;

function viewOf(
  about: About,
  heard: Heard<NodeReport> = {},
  status?: NodeStatus & { readonly rows: readonly RouteRowView[] | null },
): NodeHealthView {
  const silent = heard.problem === undefined ? null : { ...heard.problem };
  if (heard.value !== undefined) return { ...about, ...reportView(heard.value), atMs: heard.atMs ?? null, silent };
  const nothing = { health: null, reasons: [], version: "", sessions: null, routes: null };
  if (status === undefined) return { ...about, ...nothing, source: "none", atMs: null, silent };
  const wrong = status.rows?.filter(({ state }) => state === "missing" || state === "wrong").length ?? 0;
  return {
    ...about,
    ...nothing,
    source: "status",
    atMs: status.atMs,
    silent,
    reasons: sessionReasons(status.daemons),
    sessions: sessionsOf(status.daemons),
    routes: status.rows === null ? null : { right: status.rows.length - wrong, wrong },
  };
}

function reportView(report: NodeReport): Omit<NodeHealthView, keyof About | "atMs" | "silent"> {
  const unwell = report.components.filter(({ isLive, isReady }) => !isLive || !isReady);
  const said = unwell.map(({ name, detail }) => (detail === "" ? `${name} is not ready` : `${name}: ${detail}`));
  const routes = report.routes?.first ? [`route ${report.routes.first}`] : [];
  return {
    source: "report",
    health: !report.live ? "not live" : report.ready ? "well" : "not ready",
    // A part that is not ready names the session or the route itself.
    reasons: said.length > 0 ? said : [...sessionReasons(report.bgp), ...routes],
    version: report.version,
    sessions: sessionsOf(report.bgp),
    routes: report.routes === null ? null : { right: report.routes.right, wrong: report.routes.wrong },
  };
}

function sessionsOf(
  daemons: readonly Pick<BgpDaemonView, "sessions">[] | NodeReport["bgp"],
): NodeHealthView["sessions"] {
  if (daemons.length === 0) return null;
  const states = daemons.flatMap(({ sessions }) => sessions.map(({ state }) => state));
  return { up: states.filter(isUp).length, all: states.length };
}

function sessionReasons(daemons: readonly BgpDaemonView[] | NodeReport["bgp"]): string[] {
  return daemons.flatMap(({ family, silent, sessions }) => [
    ...(silent === "" ? [] : [`BIRD (IPv${family}): ${silent}`]),
    ...sessions.filter(({ state }) => !isUp(state)).map(({ address, state }) => `BGP with ${address}: ${state}`),
  ]);
}

function isUp(state: string): boolean {
  return state === "Established";
}

function withNodes(daemon: BgpDaemonView, known: ReadonlyMap<string, NodeFacts | undefined>): BgpDaemonView {
  const { family } = daemon;
  const byAddress = new Map([...known].map(([node, facts]) => [facts?.[family]?.address, node]));
  const sessions = daemon.sessions.map((session) => {
    const node = byAddress.get(session.address);
    return { ...session, ...(node === undefined ? {} : { node }) };
  });
  return { ...daemon, sessions };
}

function badFirst(a: RouteRowView, b: RouteRowView): number {
  const rank = ({ state }: RouteRowView) => (state === "right" ? 2 : state === "other" ? 1 : 0);
  return rank(a) - rank(b);
}

function parsed(value: string): unknown {
  try {
    return parseJson(value);
  } catch {
    return undefined; // then it has no address that anybody could use
  }
}

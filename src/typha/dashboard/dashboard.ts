// Serves the dashboard: the page, its JSON, and the overview pushed about once a second. Read-only, this machine only unless
// told otherwise, and cheap: the overview is made once for all who look, and not at all while nobody does.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Log } from "../../base/lib/index.ts";
import { type HttpHandler, type HttpServer, startHttp } from "../../base/observe/index.ts";
import { addressesView } from "./addresses.ts";
import { type Assets, assetPaths, loadAssets } from "./assets.ts";
import { attention } from "./attention.ts";
import type { HealthView, NodeHealthView, NodeState, OverviewView } from "./contract.ts";
import { endpointPolicies } from "./endpoint-policies.ts";
import { Explainer } from "./explainer.ts";
import { History, sampleIntervalMs } from "./history.ts";
import { NodeHealth } from "./nodes/node-health.ts";
import { PolicyHits } from "./nodes/policy-hits.ts";
import { type Pace, Paced, paces } from "./paced.ts";
import type { DashboardSource, KeyQuery } from "./source.ts";

export type DashboardOptions = {
  readonly source: DashboardSource;
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const pushIntervalMs = 1000;
const mostKeys = 1000;
const mostNames = 100;
/** Somebody who opens the page in a hundred tabs gets what the first fifty get. */
const mostListeners = 50;

export async function startDashboard(options: DashboardOptions): Promise<HttpServer> {
  const { source, clock, signal } = options;
  const history = new History(clock);
  const listeners = new Set<ServerResponse>();
  // A checkout bundles the page, which takes a moment. Nobody waits for it but who asks for the page, and hears if it failed.
  const assets = loadAssets();
  assets.catch(() => undefined);
  const answers: Answers = { paced: new Paced(clock.monotonicMs), run: clock.wallMs().toString(36) };
  const current = async () => {
    const make = async () => JSON.stringify(await overview(source, { history, health: unwell, clock }));
    return (await answers.paced.get("overview to push", make, paces.bySource)).value;
  };
  const explainer = new Explainer(source.felix, clock);
  const nodeHealth = new NodeHealth(source, clock);
  const hits = new PolicyHits(source, clock);
  const health = new Paced<HealthView>(clock.monotonicMs);
  const knownHealth = async () => (await health.get("", async () => nodeHealth.list())).value;
  const unwell = async () => (nodeHealth.isMute ? [] : (await knownHealth()).nodes);
  const answer = (make: (url: URL) => Promise<unknown>, pace: Pace = paces.byCost): HttpHandler =>
    jsonAnswer(answers, make, pace);
  const server = startHttp({
    ...options,
    name: "dashboard",
    guard: { hosts: [options.host] },
    routes: {
      ...pageRoutes(assets),
      "/events": async (request, response) => {
        if (listen(request, response, listeners)) push([response], await current());
      },
      "/api/overview": answer(() => overview(source, { history, health: unwell, clock }), paces.bySource),
      "/api/nodes": answer(() => source.nodes(), paces.bySource),
      "/api/health": answer(knownHealth, paces.bySource),
      "/api/node": answer((url) => nodeHealth.page(url.searchParams.get("node") ?? ""), paces.bySource),
      "/api/policies": answer(async (url) => hits.view(url.searchParams.get("search") ?? "")),
      "/api/watches": answer(async () => source.watches()),
      "/api/keys": answer(async (url) => source.keys(keyQuery(url))),
      "/api/key": answer((url) => source.key(url.searchParams.get("syncer") ?? "felix", pathOf(url))),
      "/api/endpoint": answer(async (url) => endpointPolicies(pathOf(url), source.felix)),
      "/api/addresses": answer(async () => ({ ...addressesView(source.felix), audits: nodeHealth.audits() })),
      "/api/explain": answer((url) => explainer.ask(url.searchParams)),
    },
  });
  void every(sampleIntervalMs, options, async () => history.add(await source.sample()));
  void every(pushIntervalMs, options, async () => {
    if (listeners.size > 0) push(listeners, await current());
  });
  signal.addEventListener("abort", () => {
    for (const listener of listeners) listener.destroy();
  });
  return server;
}

type Seen = { readonly history: History; readonly health: () => Promise<NodeHealthView[]>; readonly clock: Clock };

async function overview(source: DashboardSource, { history, health, clock }: Seen): Promise<OverviewView> {
  const nowMs = clock.wallMs();
  const [facts, { nodes, others }, known] = await Promise.all([source.facts(), source.nodes(), health()]);
  const named = (wanted: NodeState) => nodes.filter(({ state }) => state === wanted).map(({ node }) => node);
  const expected = nodes.filter((node) => node.expected).length;
  const missing = named("not connected");
  return {
    ...facts,
    nowMs,
    nodes: {
      expected,
      here: nodes.filter(({ connections }) => connections.length > 0).length,
      elsewhere: nodes.filter(({ server }) => server !== null).length,
      upToDate: named("up to date").length,
      missing: missing.slice(0, mostNames),
      behind: named("behind").slice(0, mostNames),
      unknown: named("unknown").length,
    },
    otherClients: others.length,
    attention: attention({
      ...facts,
      nowMs,
      nodes,
      health: known,
      watches: source.watches(),
      invalidObjects: source.invalidObjects(),
      manifestProblems: source.manifestProblems(),
    }),
    history: history.view(),
  };
}

function listen(request: IncomingMessage, response: ServerResponse, listeners: Set<ServerResponse>): boolean {
  if (listeners.size >= mostListeners) {
    response.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "10" });
    response.end("too many open pages; close one\n");
    return false;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", ...securityHeaders });
  response.write("retry: 1000\n\n");
  listeners.add(response);
  request.on("close", () => listeners.delete(response));
  return true;
}

// A page that has not taken the last push skips this one: it wants the newest state, not all of them.
function push(listeners: Iterable<ServerResponse>, overviewJson: string): void {
  const event = `event: overview\ndata: ${overviewJson}\n\n`;
  for (const listener of listeners) if (!listener.writableNeedDrain) listener.write(event);
}

async function every(
  intervalMs: number,
  { clock, log, signal }: DashboardOptions,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch((error: unknown) => log.error("Dashboard could not be refreshed", { error: String(error) }));
    await clock.sleep(intervalMs, signal).catch(() => undefined); // aborted: the loop ends
  }
}

type Answers = { readonly paced: Paced<string>; readonly run: string };

// The tag is the number of the answer: a browser that has this one is told so, and need not be sent it again.
function jsonAnswer({ paced, run }: Answers, make: (url: URL) => Promise<unknown>, pace: Pace): HttpHandler {
  return async (request, response, url) => {
    // What is not there is an answer like any other: a pod that is gone is no failure of the page.
    const text = async () => JSON.stringify((await make(url)) ?? null);
    const { value, number } = await paced.get(`${url.pathname}${url.search}`, text, pace);
    const etag = `"${run}-${number}"`;
    const headers = { "content-type": "application/json", "cache-control": "no-cache", etag, ...securityHeaders };
    const isKnown = request.headers["if-none-match"] === etag;
    response.writeHead(isKnown ? 304 : 200, headers);
    response.end(isKnown ? undefined : value);
  };
}

function pageRoutes(assets: Promise<Assets>): { [path: string]: HttpHandler } {
  const routes = assetPaths.map((path): [string, HttpHandler] => [
    path,
    async (_request, response) => {
      const { type, body } = (await assets).get(path) ?? { type: "text/plain", body: "" };
      response.writeHead(200, { "content-type": type, "cache-control": "no-cache", ...securityHeaders });
      response.end(body);
    },
  ]);
  return Object.fromEntries(routes);
}

const securityHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

function pathOf(url: URL): string {
  return url.searchParams.get("path") ?? "";
}

function keyQuery({ searchParams }: URL): KeyQuery {
  const number = (name: string, usual: number) => {
    const value = Number.parseInt(searchParams.get(name) ?? "", 10);
    return Number.isNaN(value) || value < 0 ? usual : value;
  };
  return {
    syncer: searchParams.get("syncer") ?? "felix",
    kind: searchParams.get("kind") ?? "",
    search: (searchParams.get("search") ?? "").slice(0, 256),
    offset: number("offset", 0),
    limit: Math.min(mostKeys, number("limit", 100)),
  };
}

// What this node says of itself to a Typha that asks (calico/node-report). Nothing is gathered before somebody asks, and what costs (BIRD's socket, a
// listing of our table) is not gathered again for a while, however often it is asked for.
import type { Clock } from "../../base/lib/index.ts";
import type { Health, HttpHandler } from "../../base/observe/index.ts";
import {
  type BgpDaemon,
  isRouteBad,
  type NodeReport,
  type PolicyHit,
  type RouteRow,
  reportPaths,
} from "../../calico/node-report/index.ts";

/** Each by the room that knows; absent: nothing here does that. */
export type ReportSources = {
  readonly bgp?: (signal: AbortSignal) => Promise<readonly BgpDaemon[]>;
  readonly routes?: () => readonly RouteRow[];
  readonly policies?: () => Promise<readonly PolicyHit[]>;
  readonly audit?: () => NodeReport["audit"];
};

export type ReportedNode = Pick<NodeReport, "node" | "version" | "startedAtMs"> & {
  readonly health: Health;
  readonly sources: ReportSources;
};

/** How old an answer may be that is given again. */
const ages = { bgp: 2_000, policies: 10_000 } as const;
/** Those that are not right come first. */
const mostRows = 2_000;

export function reportRoutes(
  { sources, ...about }: ReportedNode,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): { readonly [path: string]: HttpHandler } {
  const bgp = remembered(clock, ages.bgp, async () => (await sources.bgp?.(signal)) ?? []);
  const policies = remembered(clock, ages.policies, async () => (await sources.policies?.()) ?? []);
  const rows = () => sources.routes?.() ?? [];
  return {
    [reportPaths.node]: json(async () => nodeReport(about, sources, await bgp())),
    [reportPaths.routes]: json(async () => rows().toSorted(badFirst).slice(0, mostRows)),
    [reportPaths.policies]: json(async () => (await policies()).toSorted(mostPacketsFirst).slice(0, mostRows)),
  };
}

function nodeReport(
  { health, ...about }: Omit<ReportedNode, "sources">,
  { routes, audit }: ReportSources,
  bgp: readonly BgpDaemon[],
): NodeReport {
  const { live, ready, components } = health.summary();
  const isGood = (quality: string) => quality === "yes" || quality === "unreported";
  const silent = (quality: string, detail: string) =>
    quality === "timed out" ? `it has stopped reporting${detail === "" ? "" : `; last: ${detail}`}` : detail;
  return {
    ...about,
    live,
    ready,
    components: components.map((one) => ({
      name: one.name,
      isLive: isGood(one.live),
      isReady: isGood(one.ready),
      detail: silent(one.live === "timed out" ? one.live : one.ready, one.detail),
    })),
    bgp,
    routes: routes === undefined ? null : summaryOf(routes()),
    audit: audit?.() ?? null,
  };
}

function summaryOf(rows: readonly RouteRow[]): NodeReport["routes"] {
  const bad = rows.filter(({ state }) => isRouteBad(state));
  const [first] = bad;
  const says = first === undefined ? "" : `${first.destination} of ${first.node}: ${first.why || first.state}`;
  return { right: rows.length - bad.length, wrong: bad.length, first: says };
}

function badFirst(a: RouteRow, b: RouteRow): number {
  const rank = ({ state }: RouteRow) => (isRouteBad(state) ? 0 : state === "right" ? 2 : 1);
  return rank(a) - rank(b);
}

function mostPacketsFirst(a: PolicyHit, b: PolicyHit): number {
  return b.packets - a.packets;
}

function json(make: () => Promise<unknown>): HttpHandler {
  return async (request, response) => {
    if (request.method !== "GET") {
      response.writeHead(405, { allow: "GET" }).end();
      return;
    }
    const body = JSON.stringify(await make());
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
  };
}

/** Who asks while it is being made waits for the same one. */
function remembered<T>(clock: Clock, ageMs: number, make: () => Promise<T>): () => Promise<T> {
  let known: { readonly value: Promise<T>; readonly untilMs: number } | undefined;
  return () => {
    if (known === undefined || clock.monotonicMs() >= known.untilMs) {
      const value = make();
      known = { value, untilMs: clock.monotonicMs() + ageMs };
      value.catch(() => {
        known = undefined; // the next one may have more luck
      });
    }
    return known.value;
  };
}

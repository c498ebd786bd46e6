import { deepEqual, equal, match } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import { silentLog, systemClock } from "../../lib/index.ts";
import { createHealth, healthRoutes, startHttp } from "../index.ts";
import { healthTable } from "./health.ts";
import { wantsJson } from "./health-routes.ts";

const caches = ["felix-cache", "bgp-cache", "tunnel-ip-allocation-cache", "node-status-cache"];

function setUp() {
  let nowMs = 0;
  const { log, lines } = recordLog();
  const health = createHealth({ clock: { ...systemClock, monotonicMs: () => nowMs }, log });
  const server = health.register("SyncServer", { reportsLive: true });
  const reporters = caches.map((name) => health.register(name, { reportsLive: true, reportsReady: true }));
  return { health, server, reporters, lines, pass: (ms: number) => (nowMs += ms) };
}

test("the table is the original's, to the byte", () => {
  const { health, reporters } = setUp();
  for (const reporter of reporters) reporter.report({ live: true, ready: true });
  for (const name of ["liveness", "readiness"]) {
    equal(healthTable(health.summary()), readFileSync(`test/vectors/ops/${name}.txt`, "utf8"));
  }
});

test("before its first report a part is live and not ready", () => {
  const { health } = setUp();
  const { live, ready } = health.summary();
  deepEqual({ live, ready }, { live: true, ready: false });
  match(healthTable(health.summary()), /\| bgp-cache +\| 20s +\| reporting live \| reporting non-ready \| +\|/);
});

const cases: {
  name: string;
  act(setup: ReturnType<typeof setUp>): void;
  live: boolean;
  ready: boolean;
  row?: RegExp;
}[] = [
  { name: "all well", act: () => undefined, live: true, ready: true },
  {
    name: "one cache is not in sync",
    act: ({ reporters }) => reporters[3]?.report({ ready: false }),
    live: true,
    ready: false,
    row: /node-status-cache .* reporting non-ready/,
  },
  {
    name: "one part is not live",
    act: ({ server }) => server.report({ live: false, detail: "stuck" }),
    live: false,
    ready: true,
    row: /SyncServer .* reporting non-live \| - +\| stuck +\|/,
  },
  { name: "reports are just in time", act: ({ pass }) => pass(20_000), live: true, ready: true },
  {
    name: "nobody reports for longer than the timeout",
    act: ({ pass }) => pass(20_001),
    live: false,
    ready: false,
    row: /felix-cache .*timed out .*timed out/,
  },
  {
    name: "an extra part is ready: not in the table",
    act: ({ health }) => health.register("tls-files", { reportsReady: true, isExtra: true }).report({ ready: true }),
    live: true,
    ready: true,
    row: /^(?!.*tls-files)/s,
  },
  {
    name: "an extra part is ready and has something to say: in the table",
    act: ({ health }) =>
      health
        .register("rights", { reportsReady: true, isExtra: true })
        .report({ ready: true, detail: "may not read x" }),
    live: true,
    ready: true,
    row: /rights +\| 20s +\| - +\| reporting ready +\| may not read x/,
  },
  {
    name: "an extra part is not ready: in the table, with why",
    act: ({ health }) =>
      health.register("tls-files", { reportsReady: true, isExtra: true }).report({ ready: false, detail: "expired" }),
    live: true,
    ready: false,
    row: /tls-files +\| 20s +\| - +\| reporting non-ready +\| expired/,
  },
];
for (const [timeoutMs, text] of [
  [500, "500ms"],
  [20_000, "20s"],
  [90_000, "1m30s"],
  [3_600_000, "1h0m0s"],
  [0, "-"],
] as const) {
  test(`health: a timeout of ${timeoutMs} ms is written as ${text}; with 0 nobody is late`, () => {
    const { health, pass } = setUp();
    health.register("one", { timeoutMs, reportsLive: true }).report({ live: true });
    pass(timeoutMs + 1);
    const one = health.summary().components.find(({ name }) => name === "one");
    equal(one?.live, timeoutMs === 0 ? "yes" : "timed out");
    match(healthTable(health.summary()), new RegExp(`\\| one +\\| ${text} +\\|`));
  });
}

test("health: a timeout may change", () => {
  const { health, pass } = setUp();
  let timeoutMs = 20_000;
  health.register("one", { timeoutMs: () => timeoutMs, reportsLive: true }).report({ live: true });
  pass(19_000);
  const isLive = () => health.summary().components.find(({ name }) => name === "one")?.live;
  equal(isLive(), "yes");
  timeoutMs = 18_000;
  equal(isLive(), "timed out");
});

for (const { name, act, live, ready, row } of cases) {
  test(`health: ${name}`, () => {
    const setup = setUp();
    for (const reporter of setup.reporters) reporter.report({ live: true, ready: true });
    setup.server.report({ live: true });
    act(setup);
    const summary = setup.health.summary();
    deepEqual({ live: summary.live, ready: summary.ready }, { live, ready });
    if (row !== undefined) match(healthTable(summary), row);
  });
}

test("changes are logged once, however often the probes come", () => {
  const { health, reporters, lines } = setUp();
  health.probe();
  const before = lines.length;
  health.probe();
  equal(lines.length, before);
  for (const reporter of reporters) reporter.report({ live: true, ready: true });
  for (const reporter of reporters) reporter.report({ live: true, ready: true });
  equal(lines.length, before + 4, "each part's change once");
  health.probe();
  equal(lines.at(-1)?.message, "Overall health changed");
  reporters[0]?.report({ ready: false });
  health.probe();
  equal(lines.at(-1)?.level, "warn", "not ready after having been ready is a warning");
});

const accepts: { accept: string | undefined; json: boolean }[] = [
  { accept: undefined, json: false },
  { accept: "*/*", json: false },
  { accept: "text/html,*/*;q=0.8", json: false },
  { accept: "application/json", json: true },
  { accept: "text/plain, Application/JSON; q=0.9", json: true },
  { accept: "application/jsonp", json: false },
];
for (const { accept, json } of accepts) {
  test(`Accept: ${accept} ${json ? "gets JSON" : "gets the table"}`, () => equal(wantsJson(accept), json));
}

test("the probes answer 200 or 503 with the same body, by any method, and 404 elsewhere", async () => {
  const { health, reporters } = setUp();
  await using server = startHttp({
    name: "health",
    host: "127.0.0.1",
    port: 0,
    routes: healthRoutes(health),
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
  });
  await server.listening;
  const base = `http://127.0.0.1:${server.addresses[0]?.port}`;
  const status = async (path: string, init?: RequestInit) => (await fetch(base + path, init)).status;
  equal(await status("/liveness"), 200);
  equal(await status("/readiness"), 503);
  equal(await status("/readiness", { method: "POST" }), 503);
  equal(await status("/other"), 404);
  for (const reporter of reporters) reporter.report({ ready: true });
  const answer = await fetch(`${base}/readiness`);
  equal(answer.status, 200);
  equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  equal(await answer.text(), readFileSync("test/vectors/ops/readiness.txt", "utf8"));
  const json = await fetch(`${base}/readiness`, { headers: { accept: "application/json" } });
  const body = (await json.json()) as { ready: boolean; components: { name: string; ready: string }[] };
  equal(body.ready, true);
  deepEqual(body.components[0], {
    name: "SyncServer",
    timeoutSeconds: 20,
    live: "yes",
    ready: "unreported",
    detail: "",
  });
});

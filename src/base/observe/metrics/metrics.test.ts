import { deepEqual, equal, match, ok } from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { silentLog, systemClock } from "../../lib/index.ts";
import { createMetrics, metricsRoutes, startHttp } from "../index.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { QuantileWindow } from "./quantile-window.ts";

const table = {
  cups_poured: { type: "counter", help: "Cups poured." },
  cups_full: { type: "gauge", help: "Cups that are full." },
  guests: { type: "gauge", label: "room", isClosed: true, help: "Guests in a room." },
  steps_total: { type: "counter", label: "room", isClosed: true, help: "Steps in a room." },
  spills_total: { type: "counter", label: "reason", help: "Spills, by reason." },
  sips: { type: "summary", label: "room", isClosed: true, help: "Sips a cup." },
  sips_lately: { type: "summary", label: "room", isClosed: true, maxAgeMs: 60_000, help: "Sips a cup, of late." },
} as const;
const labels = { room: ["kitchen", "hall"], reason: ["haste"] };

type Switch = boolean | (() => boolean);

function setUp(options: { includesProcess?: Switch; includesRuntime?: Switch } = {}) {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const metrics = createMetrics({ table, clock, labels, ...options });
  return { metrics, pass: (ms: number) => (nowMs += ms) };
}

const switches: { name: string; options: Parameters<typeof setUp>[0]; process: boolean; runtime: boolean }[] = [
  { name: "both by default", options: {}, process: true, runtime: true },
  { name: "no process metrics", options: { includesProcess: false }, process: false, runtime: true },
  { name: "no runtime metrics", options: { includesRuntime: false }, process: true, runtime: false },
  { name: "neither", options: { includesProcess: false, includesRuntime: false }, process: false, runtime: false },
];
for (const { name, options, process, runtime } of switches) {
  test(`runtime metrics: ${name}`, async () => {
    const text = await setUp(options).metrics.text();
    equal(/^process_resident_memory_bytes /m.test(text), process);
    equal(/^process_network_receive_bytes_total /m.test(text), process);
    equal(/^nodejs_/m.test(text), runtime);
    ok(/^cups_full 0$/m.test(text));
  });
}

test("runtime metrics come and go with their switches", async () => {
  const on = { process: false, runtime: false };
  const { metrics } = setUp({ includesProcess: () => on.process, includesRuntime: () => on.runtime });
  const seen = async () => {
    const text = await metrics.text();
    ok(/^cups_full 0$/m.test(text));
    return [/^process_/m.test(text), /^nodejs_/m.test(text)];
  };
  deepEqual(await seen(), [false, false]);
  on.runtime = true;
  deepEqual(await seen(), [false, true]);
  on.process = true;
  on.runtime = false;
  deepEqual(await seen(), [true, false]);
});

test("what nobody reads is not watched: the process sleeps until something happens", async () => {
  const { metrics } = setUp();
  equal(metrics.registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds"), undefined);
  metricsRoutes(metrics);
  ok(metrics.registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds"));
});

test("counters add up, gauges move both ways, and unknown label values make no series", async () => {
  const { metrics } = setUp({ includesProcess: false, includesRuntime: false });
  metrics.add("cups_poured", undefined, 3);
  metrics.add("cups_poured", undefined, 2);
  metrics.add("cups_full", undefined, 5);
  metrics.add("cups_full", undefined, -2);
  metrics.add("guests", "kitchen", 2);
  metrics.set("guests", "hall", 7);
  for (let i = 0; i < 10_000; i++) {
    metrics.add("steps_total", `random-${i}`, 1);
    metrics.add("spills_total", `random-${i}`, 1);
  }
  const text = await metrics.text();
  match(text, /^cups_poured 5$/m);
  match(text, /^cups_full 3$/m);
  match(text, /^guests\{room="kitchen"\} 2$/m);
  match(text, /^guests\{room="hall"\} 7$/m);
  match(text, /^spills_total\{reason="other"\} 10000$/m);
  ok(!text.includes("random"));
});

test("a summary has quantiles of its window, and sum and count of all time", async () => {
  const { metrics, pass } = setUp({ includesProcess: false, includesRuntime: false });
  const shown = async (name: string) => {
    const found = new RegExp(`^${name}\\{room="kitchen"(?:,quantile="([\\d.]+)")?\\} (\\S+)$`, "gm");
    return [...(await metrics.text()).matchAll(found)].map(([, , value]) => Number(value));
  };
  deepEqual(await shown("sips"), [Number.NaN, Number.NaN, Number.NaN]);
  for (let i = 1; i <= 1000; i++) metrics.observe("sips", "kitchen", i);
  const [p50 = 0, p90 = 0, p99 = 0] = await shown("sips");
  ok(Math.abs(p50 - 500) <= 10 && Math.abs(p90 - 900) <= 12 && Math.abs(p99 - 990) <= 12, `${p50} ${p90} ${p99}`);
  deepEqual(await shown("sips_sum"), [500_500]);
  metrics.observe("sips", "kitchen", 7, 1_000_000);
  deepEqual(await shown("sips_count"), [1_001_000]);
  ok(Math.abs(((await shown("sips"))[0] ?? 0) - 7) < 0.1);
  pass(601_000);
  deepEqual(await shown("sips"), [Number.NaN, Number.NaN, Number.NaN]);
  deepEqual(await shown("sips_count"), [1_001_000]);
});

test("a summary forgets after its own time, ten minutes unless it says so", async () => {
  const { metrics, pass } = setUp({ includesProcess: false, includesRuntime: false });
  metrics.observe("sips_lately", "hall", 1);
  metrics.observe("sips", "hall", 1);
  const isEmpty = async (name: string) =>
    new RegExp(`^${name}\\{room="hall",quantile="0.5"\\} Nan`, "m").test(await metrics.text());
  pass(59_000);
  deepEqual([await isEmpty("sips_lately"), await isEmpty("sips")], [false, false]);
  pass(2_000);
  deepEqual([await isEmpty("sips_lately"), await isEmpty("sips")], [true, false]);
});

for (const value of [1, 2, 50, 99, 100, 101, 999, 0.001234567, 1e-7, 123_456]) {
  test(`where only ${value} was observed, every quantile is just that`, () => {
    const window = new QuantileWindow({ maxAgeMs: 1000, ageBuckets: 5, nowMs: 0 });
    for (const atMs of [0, 300, 600]) window.observe(value, 3, atMs);
    deepEqual(window.quantiles([0.5, 0.9, 0.99], 600), [value, value, value]);
  });
}

test("one value may stand for several that hardly differ: their sum is then said beside it", async () => {
  const { metrics } = setUp({ includesProcess: false, includesRuntime: false });
  metrics.observe("sips", "kitchen", 104, 10, 1050);
  match(await metrics.text(), /^sips_sum\{room="kitchen"\} 1050$/m);
  match(await metrics.text(), /^sips_count\{room="kitchen"\} 10$/m);
});

test("a quantile is within a percent or so of the truth, over fifteen orders of size", () => {
  for (const scale of [1e-6, 1e-3, 1, 1e3, 1e6]) {
    const window = new QuantileWindow({ maxAgeMs: 1000, ageBuckets: 5, nowMs: 0 });
    for (let i = 1; i <= 1000; i++) window.observe(i * scale, 1, 0);
    const [p50 = 0, p99 = 0] = window.quantiles([0.5, 0.99], 0);
    ok(Math.abs(p50 / (500 * scale) - 1) < 0.015, `${p50}`);
    ok(Math.abs(p99 / (990 * scale) - 1) < 0.015, `${p99}`);
  }
  const odd = new QuantileWindow({ maxAgeMs: 1000, ageBuckets: 5, nowMs: 0 });
  for (const value of [0, -5, Number.POSITIVE_INFINITY]) odd.observe(value, 1, 0);
  deepEqual(odd.quantiles([0.1], 0), [0]);
});

test("where there is no /proc the process metrics of it are left out", () => {
  const { metrics } = setUp({ includesProcess: false, includesRuntime: false });
  addProcessMetrics(metrics.registry, "/does/not/exist");
  equal(metrics.registry.getSingleMetric("process_virtual_memory_max_bytes"), undefined);
});

const encodings: { accepts: string; isGzipped: boolean }[] = [
  { accepts: "identity", isGzipped: false },
  { accepts: "gzip", isGzipped: true },
  { accepts: "deflate, GZIP;q=0.5", isGzipped: true },
  { accepts: "gzip;q=1.0, identity; q=0", isGzipped: true },
  { accepts: "gzip;q=0", isGzipped: false },
  { accepts: "br, gzip ; q=0.000", isGzipped: false },
  { accepts: "gzipped", isGzipped: false },
  { accepts: "", isGzipped: false },
];
for (const { accepts, isGzipped } of encodings) {
  test(`/metrics with Accept-Encoding "${accepts}" is ${isGzipped ? "gzipped" : "plain text"}`, async () => {
    const { metrics } = setUp();
    const { signal } = new AbortController();
    const listen = { name: "metrics", host: "127.0.0.1", port: 0 };
    const routes = metricsRoutes(metrics);
    await using server = startHttp({ ...listen, routes, clock: systemClock, log: silentLog, signal });
    await server.listening;
    const to = { host: "127.0.0.1", port: server.addresses[0]?.port, path: "/metrics" };
    const { response, body } = await new Promise<{ response: IncomingMessage; body: Buffer }>((resolve) => {
      get({ ...to, headers: { "accept-encoding": accepts } }, async (response) =>
        resolve({ response, body: Buffer.concat(await response.toArray()) }),
      );
    });
    equal(response.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    equal(response.headers["content-encoding"], isGzipped ? "gzip" : undefined);
    match((isGzipped ? gunzipSync(body) : body).toString(), /guests/);
  });
}

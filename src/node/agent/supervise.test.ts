import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { recordLog } from "../../../test/kit/recorded-log.ts";
import { createHealth, type HealthReporter, type Metrics } from "../../base/observe/index.ts";
import type { Feed, FeedConsumer, Part } from "../part/index.ts";
import { PartHealth } from "./part-health.ts";
import { supervise } from "./supervise.ts";

const noMetrics: Metrics = {
  registry: undefined as never, // nobody scrapes a test
  add: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  watchRuntime: () => undefined,
  text: async () => "",
};

function world(isStrict = true) {
  const clock = new FakeClock();
  const { log, lines } = recordLog();
  const stop = new AbortController();
  const health = createHealth({ clock, log });
  const partHealth = new PartHealth({ health, clock, isStrict: () => isStrict, timeoutOf: () => undefined });
  const consumers = new Set<FeedConsumer>();
  const listeners = new Set<(names: readonly string[]) => void>();
  const feed: Feed = {
    follow(_, consumer) {
      consumers.add(consumer);
      return { [Symbol.dispose]: () => void consumers.delete(consumer) };
    },
  };
  const settings = {
    raw: () => undefined,
    onChange(listener: (names: readonly string[]) => void) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  const start = (part: Part, reporter: HealthReporter = partHealth.ofPart(part)) =>
    supervise(
      part,
      {
        ...{ node: "n", clock, log, random: () => 0, metrics: noMetrics, feed, settings, health: reporter },
        datastore: async () => Promise.reject(new Error("no datastore here")),
      },
      stop.signal,
    );
  const component = (name: string) => health.summary().components.find((one) => one.name === name);
  return { clock, lines, stop, health, partHealth, consumers, listeners, start, component };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("a part that fails is started again after pauses that grow, and health and log say so", async () => {
  const at = world();
  const startsMs: number[] = [];
  const part: Part = {
    name: "routes",
    async run() {
      startsMs.push(at.clock.monotonicMs());
      throw new Error("no netlink");
    },
  };
  const running = at.start(part);
  await at.clock.advance(4000);
  deepEqual(startsMs, [0, 500, 1500, 3500]);
  match(at.component("routes")?.detail ?? "", /failed 4 times and is started again: no netlink/);
  equal(at.component("routes")?.ready, "no");
  equal(at.component("routes")?.live, "yes");
  ok(at.lines.some(({ level, fields }) => level === "error" && fields.problem === "no netlink"));
  at.stop.abort();
  await running;
});

test("one that ends by itself has failed, and one that has worked for a minute starts at the first pause again", async () => {
  const at = world();
  let starts = 0;
  const part: Part = {
    name: "bird",
    async run(_, signal) {
      starts += 1;
      await at.clock.sleep(starts < 3 ? 1 : 61_000, signal);
    },
  };
  void at.start(part);
  await at.clock.advance(1600); // 1 + 500, 1 + 1000
  equal(starts, 3);
  await at.clock.advance(61_000);
  match(at.component("bird")?.detail ?? "", /^failed and is started again: it ended by itself$/);
  await at.clock.advance(600);
  equal(starts, 4);
  at.stop.abort();
});

test("an error in what a part does with the cluster's state is its own failure, and its subscriptions end with it", async () => {
  const at = world();
  let starts = 0;
  const part: Part = {
    name: "policy",
    async run({ feed, settings }, signal) {
      starts += 1;
      settings.onChange(() => undefined);
      feed.follow("felix", {
        set: () => {
          throw new Error("cannot take that");
        },
        delete: () => undefined,
        settled: () => undefined,
      });
      await untilAborted(signal);
    },
  };
  void at.start(part);
  await at.clock.settle();
  deepEqual([at.consumers.size, at.listeners.size], [1, 1]);
  for (const consumer of at.consumers) consumer.set("/a", "1");
  await at.clock.settle();
  deepEqual([at.consumers.size, at.listeners.size], [0, 0]);
  match(at.component("InternalDataplaneMainLoop")?.detail ?? "", /cannot take that/);
  await at.clock.advance(600);
  deepEqual([starts, at.consumers.size], [2, 1]);
  at.stop.abort();
});

test("two parts: one fails again and again, the other does not notice", async () => {
  const at = world();
  let bad = 0;
  let good = 0;
  void at.start({
    name: "bad",
    async run() {
      bad += 1;
      throw new Error("bad");
    },
  });
  void at.start({
    name: "good",
    async run({ health }, signal) {
      good += 1;
      health.report({ ready: true });
      await untilAborted(signal);
    },
  });
  await at.clock.advance(30_000);
  ok(bad > 4);
  deepEqual([good, at.component("good")?.ready, at.component("bad")?.ready], [1, "yes", "no"]);
  at.stop.abort();
});

test("what a part said last is repeated for it, but not for one that has its own rhythm", async () => {
  const at = world();
  const quiet: Part = { name: "quiet", run: (_, signal) => untilAborted(signal) };
  const own: Part = { name: "own", healthTimeoutMs: 20_000, run: (_, signal) => untilAborted(signal) };
  for (const part of [quiet, own]) at.partHealth.ofPart(part).report({ ready: true });
  void at.partHealth.beat(at.stop.signal);
  await at.clock.advance(600_000);
  deepEqual([at.component("quiet")?.live, at.component("own")?.live], ["yes", "timed out"]);
  equal(at.health.summary().live, false);
  at.stop.abort();
});

test("strictly, every part counts for readiness and a lost connection is not ready; by the original's rule neither is so", () => {
  for (const isStrict of [true, false]) {
    const at = world(isStrict);
    const felix = at.partHealth.ofFeed("felix");
    at.partHealth.ofAgent("FelixStartup").report({ ready: true });
    at.partHealth.ofPart({ name: "policy", run: async () => undefined }).report({ ready: true });
    const routes = at.partHealth.ofPart({ name: "routes", run: async () => undefined });
    routes.report({ ready: true });
    equal(at.health.summary().ready, false, "nothing is known of the cluster yet");
    felix({ inSync: true });
    equal(at.health.summary().ready, true);
    routes.report({ ready: false, detail: "10.0.0.0/26 is missing" });
    equal(at.health.summary().ready, !isStrict);
    routes.report({ ready: true });
    felix({ inSync: true, cutOff: "no connection" });
    equal(at.health.summary().ready, !isStrict);
    equal(at.component("CalculationGraph")?.detail, "no connection");
  }
});

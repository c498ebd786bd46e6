// The original's cases with 100 clients: all get everything, gauges follow, and a lower limit sheds exactly the excess.
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  digestOf,
  eventually,
  GoClients,
  lastKey,
  manyKeys,
  serve,
  untilLast,
  withoutGoClient,
} from "../kit/serving.ts";

const options = { skip: withoutGoClient };
const hundred = ["--clients", "100", "--stats", "--digest", "--stats-every", "50ms"];
const hosts = ["--hostname", "node-%d"];

/** Waits until the clients have seen this many key/values between them. */
function seen(clients: GoClients, kvs: number): Promise<true> {
  return clients.until((events) => (events.at(-1)?.stats?.kvs ?? 0) >= kvs || undefined, `${kvs} key/values`);
}

for (const workers of [0, 2]) {
  describe(`100 clients, ${workers} workers`, options, () => {
    for (const count of [1, 1000]) {
      test(`all get ${count} KVs`, options, async () => {
        await using server = await serve({ workers });
        server.status(2);
        await using clients = new GoClients(server, hundred);
        await clients.inSync(100);
        server.set(manyKeys(count, (index) => `{"seq":${index}}`));
        await seen(clients, count * 100);
        const stats = await clients.finalStats();
        equal(stats.kvs, count * 100);
        deepEqual(Object.values(stats.states), [100]);
        deepEqual(stats.errors, {});
      });
    }

    test("many KVs in many batches, some deleted again", options, async () => {
      await using server = await serve({ workers });
      server.status(2);
      await using clients = new GoClients(server, [...hundred, ...untilLast]);
      await clients.inSync(100);
      for (let round = 0; round < 50; round += 1) {
        server.set(manyKeys(100, () => `{"seq":${round}}`, `round-${round % 7}-`));
        server.delete(Object.keys(manyKeys(30, () => "", `round-${round % 7}-`)));
      }
      server.set({ [lastKey]: "x" });
      const stats = await clients.statsAtLast();
      deepEqual(stats.states, { [digestOf(server.told)]: 100 });
      equal(stats.backwards, 0);
    });

    test("gauges count all, and none after a kill", options, async () => {
      await using server = await serve({ workers });
      server.status(2);
      await using clients = new GoClients(server, hundred);
      await clients.inSync(100);
      await eventually(() => server.metrics.get("typha_connections_streaming{felix}") === 100, "100 streaming");
      equal(server.metrics.get("typha_connections_active"), 100);
      equal((await server.clients()).length, 100);
      clients.child.kill("SIGKILL");
      await eventually(() => server.metrics.get("typha_connections_streaming{felix}") === 0, "none streaming");
      await eventually(() => server.metrics.get("typha_connections_active") === 0, "none active");
      equal(server.activeCount, 0);
    });

    test("when the limit falls to 60 exactly 40 are dropped, one per interval", options, async () => {
      await using server = await serve({ workers, limits: { dropIntervalMs: 50 } });
      server.status(2);
      await using clients = new GoClients(server, [...hundred, ...hosts]);
      await clients.inSync(100);
      const startedMs = performance.now();
      server.setMaxConnections(60);
      await eventually(() => server.metrics.get("typha_connections_dropped") === 40, "40 dropped");
      ok(performance.now() - startedMs >= 40 * 50 * 0.95, "at most one per interval");
      await eventually(() => server.activeCount === 60, "60 left");
      // A few more intervals must drop nobody.
      const droppedBefore = server.metrics.get("typha_connections_dropped");
      server.set({ "/calico/v1/config/after": "1" });
      await seen(clients, 60);
      equal(server.metrics.get("typha_connections_dropped"), droppedBefore);
      await clients.until(
        (events) => events.findLast(({ stats }) => stats)?.stats?.errors["server closed the connection"] === 40,
        "40 who noticed",
      );
    });

    test("under churn of clients everybody who stays ends with the same state", options, async () => {
      await using server = await serve({ workers });
      server.set(manyKeys(500, () => `{"seq":0}`));
      server.status(2);
      await using stay = new GoClients(server, [...hundred, ...untilLast]);
      await stay.inSync(100);
      for (let round = 1; round <= 5; round += 1) {
        await using come = new GoClients(server, ["--clients", "30", "--stats"]);
        server.set(
          manyKeys(500, () => `{"seq":${round}}`),
          { type: 2 },
        );
        await come.inSync(30);
        server.set(
          manyKeys(500, () => `{"seq":${round}.5}`),
          { type: 2 },
        );
        come.child.kill("SIGKILL");
      }
      server.set({ [lastKey]: "x" });
      const stats = await stay.statsAtLast();
      deepEqual(stats.states, { [digestOf(server.told)]: 100 });
      equal(stats.backwards, 0);
    });
  });
}

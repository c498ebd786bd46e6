// The original's largest case: 200,000 pods, and eleven clients that all get every one of them.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KvUpdate } from "../../src/calico/model/index.ts";
import { eventually, GoClients, serve, withoutGoClient } from "../kit/serving.ts";

const pods = 200_000;

test("a 200,000-pod snapshot to 11 clients", { skip: withoutGoClient }, async () => {
  await using server = await serve({ workers: 2 });
  for (let start = 0; start < pods; start += 1000) {
    const updates = Array.from({ length: 1000 }, (_, index): KvUpdate => {
      const pod = start + index;
      return {
        path: `/calico/v1/host/node-${pod % 500}/workload/k8s/default%2fpod-${pod}/endpoint/eth0`,
        value: `{"state":"active","name":"cali${pod}","ipv4_nets":["10.${pod >> 16}.${(pod >> 8) & 255}.${pod & 255}/32"]}`,
        revision: `${pod}`,
        v3ResourceVersion: "",
        type: 1,
      };
    });
    server.apply({ syncer: "felix", updates });
  }
  server.status(2);
  await using clients = new GoClients(server, ["--clients", "11", "--stats", "--digest", "--timeout", "300s"]);
  await clients.until(
    (events) => events.some(({ allInSync }) => allInSync === 11) || undefined,
    "all in sync",
    300_000,
  );
  const stats = await clients.finalStats();
  equal(stats.kvs, 11 * pods);
  deepEqual(Object.values(stats.states), [11]);
  deepEqual(stats.errors, {});
  await eventually(
    () => server.metrics.get("typha_snapshots_reused{felix}") >= 10,
    "one snapshot made, ten times reused",
  );
  equal(server.metrics.get("typha_snapshots_generated{felix}"), 1);
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { createMemoryDatastore } from "../../../calico/datastore/index.ts";
import { TyphaService } from "./typha-service.ts";
import { followService } from "./typha-service-beside-etcd.ts";

test("the service's slices are followed from the Kubernetes API", async () => {
  await using kubernetes = createMemoryDatastore();
  const service = new TyphaService({ namespace: "kube-system", name: "calico-typha", portName: "calico-typha" });
  const stop = new AbortController();
  const edge = { clock: systemClock, log: silentLog, random: Math.random, signal: stop.signal };
  const following = followService(kubernetes, service, edge);
  equal(service.serverCount, undefined);
  await kubernetes.create("EndpointSlice", {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s1", namespace: "kube-system", labels: { "kubernetes.io/service-name": "calico-typha" } },
    ports: [{ name: "calico-typha", port: 5473 }],
    endpoints: [{ addresses: ["192.0.2.1"] }, { addresses: ["192.0.2.2"], conditions: { ready: false } }],
  });
  while (service.serverCount === undefined) await new Promise((resolve) => setImmediate(resolve));
  equal(service.serverCount, 2);
  deepEqual(
    service.peers().map(({ host, isReady }) => [host, isReady]),
    [
      ["192.0.2.1", true],
      ["192.0.2.2", false],
    ],
  );
  await kubernetes.delete("EndpointSlice", { namespace: "kube-system", name: "s1" });
  while (service.serverCount !== undefined) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await following;
});

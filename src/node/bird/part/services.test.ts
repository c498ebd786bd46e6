// Services and endpoint slices as they are followed: what is known can be asked for more than once, because each family asks.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { createMemoryDatastore } from "../../../calico/datastore/index.ts";
import { serviceAddresses, serviceRanges } from "../model/services.ts";
import { ServiceSource } from "./services.ts";

test("addresses of both families of one service", async () => {
  const clock = new FakeClock();
  const datastore = createMemoryDatastore({ clock });
  const metadata = { name: "a", namespace: "default" };
  await datastore.create("Service", {
    ...{ apiVersion: "v1", kind: "Service", metadata },
    spec: {
      ...{
        type: "NodePort",
        clusterIP: "10.96.0.1",
        clusterIPs: ["10.96.0.1", "fd96::1"],
        externalTrafficPolicy: "Local",
      },
      ipFamilies: ["IPv4", "IPv6"],
    },
  });
  await datastore.create("EndpointSlice", {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": "a" } },
    endpoints: [{ addresses: ["10.1.0.1"], nodeName: "n1" }],
  });
  const failures: unknown[] = [];
  const source = new ServiceSource({
    ...{ datastore: async () => datastore, clock, log: silentLog },
    changed: () => undefined,
    failed: (error) => void failures.push(error),
  });
  source.start();
  for (let i = 0; i < 100 && !source.isInSync; i++) await clock.advance(100);
  const ranges = serviceRanges({ serviceClusterIPs: [{ cidr: "10.96.0.0/16" }, { cidr: "fd96::/112" }] }, undefined);
  const { services, slices } = source;
  const asked = () => serviceAddresses(services, slices, { ranges, node: "n1" }).map(({ family }) => family);
  deepEqual([asked(), asked(), failures], [[4, 6], [4, 6], []]);
  source.stop();
  await clock.settle();
});

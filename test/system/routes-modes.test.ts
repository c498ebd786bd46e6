// Pods of three nodes reach each other in every mode, and the kernel has the routes that belong there.
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import type { PoolMode } from "../kit/route-nodes/cluster.ts";
import { reaches } from "../kit/route-nodes/network.ts";
import { kernelRoutes, runRoutes } from "../kit/route-nodes/running.ts";
import { threeNodes } from "../kit/route-nodes/three-nodes.ts";

const skip = noNamespaces;
const modes: { mode: PoolMode; crosses: boolean; routesOfOne: string[] }[] = [
  {
    mode: "never",
    crosses: false,
    routesOfOne: [
      "10.99.0.5/32 dev cali1 proto boot metric 1024",
      "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80 onlink",
      "10.99.2.0/26 via 172.30.1.3 dev eth0 proto 80 onlink",
      "blackhole 10.99.0.0/26 proto 80",
      "blackhole fd99::/122 proto 80",
      "fd99::1:0/122 via fd30::2 dev eth0 proto 80 onlink",
      "fd99::2:0/122 via fd30:1::3 dev eth0 proto 80 onlink",
      "fd99::5/128 dev cali1 proto boot",
    ],
  },
  {
    mode: "vxlan",
    crosses: true,
    routesOfOne: [
      "10.99.0.5/32 dev cali1 proto boot metric 1024",
      "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico proto boot onlink mtu 1450",
      "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico proto boot onlink mtu 1450",
      "blackhole 10.99.0.0/26 proto 80",
      "blackhole fd99::/122 proto 80",
      "fd99::1:0/122 via fd99::1:1 dev vxlan-v6.calico proto boot onlink mtu 1430",
      "fd99::2:0/122 via fd99::2:1 dev vxlan-v6.calico proto boot onlink mtu 1430",
      "fd99::5/128 dev cali1 proto boot",
    ],
  },
  {
    mode: "vxlan-cross-subnet",
    crosses: true,
    routesOfOne: [
      "10.99.0.5/32 dev cali1 proto boot metric 1024",
      "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80 onlink",
      "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico proto boot onlink mtu 1450",
      "blackhole 10.99.0.0/26 proto 80",
      "blackhole fd99::/122 proto 80",
      "fd99::1:0/122 via fd30::2 dev eth0 proto 80 onlink",
      "fd99::2:0/122 via fd99::2:1 dev vxlan-v6.calico proto boot onlink mtu 1430",
      "fd99::5/128 dev cali1 proto boot",
    ],
  },
];

for (const { mode, crosses, routesOfOne } of modes) {
  test(`routes: ${mode}`, { skip, timeout: 120_000 }, async (t) => {
    const { cluster, nodes, one, two, three } = await threeNodes(mode);
    const running = nodes.map(({ node }) => afterTest(t).use(runRoutes(node, cluster)));
    await eventually(
      () => running.every((each) => each.health().ready),
      () => JSON.stringify(running.map((each) => each.health())),
      60_000,
    );
    await eventually(
      async () => JSON.stringify(await kernelRoutes(one.node.namespace)) === JSON.stringify(routesOfOne),
      "routes",
      60_000,
    ).catch(() => undefined);
    deepEqual(await kernelRoutes(one.node.namespace), routesOfOne);
    for (const [i, address] of two.pod.addresses.entries()) {
      ok(await reaches(one.pod, address), `pod on the same network, ${address}`);
      ok(await reaches(one.node, address), `from the node, ${address}`);
      const far: string = three.pod.addresses[i] ?? "";
      // Without a tunnel the router between the networks does not know the pods.
      if (crosses) {
        ok(await reaches(one.pod, far), `pod on the other network, ${far}`);
        ok(await reaches(three.node, address), `from the other network's node, ${address}`);
      }
    }
  });
}

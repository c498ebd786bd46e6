// A route that the kernel refuses: what leads there meanwhile stays.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { noNamespaces } from "../../../../test/kit/namespace.ts";
import { nodeOne } from "../../../../test/kit/route-nodes/kept-node.ts";

const skip = noNamespaces;
const block = "10.99.1.0/26";

test("a route to another node stays until the one in its place is written", { skip }, async () => {
  // The kernel takes no source address that the node does not have.
  const source = "172.30.0.77";
  const { real, keeper, setMode, keep } = await nodeOne({
    bgp: "none",
    settings: { DeviceRouteSourceAddress: source },
  });
  const index = (await real.link("eth0"))?.index ?? 0;
  const before = { destination: block, index, gateway: "172.30.0.2", protocol: 80, metric: 50 } as const;
  await real.change({ do: "create", route: before });
  setMode("never");
  const kept = async () => (await keep()).filter((line) => line.startsWith(block));
  const old = `${block} via 172.30.0.2 dev eth0 proto 80 metric 50`;
  for (let i = 0; i < 2; i++) deepEqual(await kept(), [old]);
  match(keeper.routes.troubles.worst()?.detail ?? "", /10\.99\.1\.0\/26/);
  await real.change({ do: "create", address: { index, address: `${source}/32` } });
  deepEqual(await kept(), [`${block} via 172.30.0.2 dev eth0 proto 80 onlink src ${source}`]);
});

// A pool whose routes are BIRD's from now on: what leads there stays until BIRD has written its own, and not for ever.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { noNamespaces } from "../../../../test/kit/namespace.ts";
import { nodeOne } from "../../../../test/kit/route-nodes/kept-node.ts";

const skip = noNamespaces;
const [two, three] = ["10.99.1.0/26", "10.99.2.0/26"];

test("routes through a tunnel give way to BIRD's one by one, and go in the end where BIRD has none", {
  skip,
}, async () => {
  const clock = new FakeClock();
  const { real, keeper, setMode, keep } = await nodeOne({ clock, lingerMs: 60_000 });
  setMode("vxlan");
  await keep();
  setMode("never");
  const through = (block: string, far: string) => `${block} via ${far} dev vxlan.calico proto boot onlink mtu 1450`;
  deepEqual(await keep(), [through(two, "10.99.1.1"), through(three, "10.99.2.1")]);
  match(keeper.routes.troubles.worst()?.detail ?? "", /BIRD has no route/);
  const index = (await real.link("eth0"))?.index ?? 0;
  const bird = { index, gateway: "172.30.0.2", onlink: true, protocol: "bird", metric: 1024 } as const;
  await real.change({ do: "create", route: { ...bird, destination: two } });
  const birds = `${two} via 172.30.0.2 dev eth0 proto bird metric 1024 onlink`;
  deepEqual(await keep(), [birds, through(three, "10.99.2.1")]);
  await clock.advance(29_000);
  deepEqual(await keep(), [birds, through(three, "10.99.2.1")]);
  await clock.advance(2_000);
  deepEqual(await keep(), [birds]);
});

test("a route that does not lead to the block's node goes at once", { skip }, async () => {
  const { real, setMode, keep } = await nodeOne();
  const index = (await real.link("eth0"))?.index ?? 0;
  const stray = { index, gateway: "172.30.0.9", onlink: true, protocol: 80 } as const;
  await real.change({ do: "create", route: { ...stray, destination: two } });
  await real.change({ do: "create", route: { ...stray, destination: three, gateway: "172.30.1.3" } });
  setMode("never");
  deepEqual(await keep(), [`${three} via 172.30.1.3 dev eth0 proto 80 onlink`]);
});

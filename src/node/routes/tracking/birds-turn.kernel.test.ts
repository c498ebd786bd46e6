// A pool whose routes are BIRD's from now on: what leads there stays until BIRD has written its own, and not for ever.
import { deepEqual, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { noNamespaces } from "../../../../test/kit/namespace.ts";
import {
  blockPath,
  blockValue,
  nodePath,
  nodeValue,
  type PoolMode,
  poolPath,
  poolValue,
} from "../../../../test/kit/route-nodes/cluster.ts";
import { nodeOne } from "../../../../test/kit/route-nodes/kept-node.ts";
import { kernelRoutes } from "../../../../test/kit/route-nodes/running.ts";

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

const [pool6, two6, three6] = ["fd99::/48", "fd99:0:0:1::/122", "fd99:0:0:2::/122"];
const through6 = (block: string, more = "") =>
  `${block} via ${block.replace("/122", "1")} dev vxlan-v6.calico proto boot ${more}onlink mtu 1430`;
const behind = "metric 2684354559 ";
const ofBird = (block: string) => `${block} via fd30::2 dev eth0 proto bird onlink`;

/** The same of IPv6; BIRD adds a route as a whole, or not at all. */
async function nodeOne6(given: Parameters<typeof nodeOne>[0] = {}) {
  const node = await nodeOne({ lingerMs: 60_000, ...given });
  const { real, set } = node;
  const index = (await real.link("eth0"))?.index ?? 0;
  await real.change({ do: "create", address: { index, address: "fd30::1/64", flags: ["nodad"] } });
  for (const [i, name] of ["one", "two", "three"].entries()) {
    const [address, address6] = [`172.30.0.${i + 1}/24`, `fd30::${i + 1}/64`];
    set(nodePath(name), nodeValue({ name, address, address6, tunnel: `10.99.${i}.1`, tunnel6: `fd99:0:0:${i}::1` }));
    set(blockPath(`fd99:0:0:${i}::/122`), blockValue(`fd99:0:0:${i}::/122`, name));
  }
  const bird = { index, gateway: "fd30::2", onlink: true, protocol: "bird", metric: 1024 } as const;
  return {
    ...node,
    setMode: (mode: PoolMode) => set(poolPath(pool6), poolValue(pool6, mode)),
    /** Of the blocks of other nodes. */
    keep: async () => (await node.keep()).filter((line) => line.startsWith(two6) || line.startsWith(three6)),
    birdWrites: (destination: string) => real.change({ do: "create", route: { ...bird, destination } }),
  };
}

test("a route of IPv6 steps behind BIRD's, never without one of the two, and goes when BIRD has its own", {
  skip,
}, async () => {
  const clock = new FakeClock();
  const { setMode, keep, birdWrites } = await nodeOne6({ clock });
  setMode("vxlan");
  deepEqual(await keep(), [through6(two6), through6(three6)]);
  setMode("never");
  await rejects(birdWrites(two6), /EEXIST/);
  deepEqual(
    await keep(),
    [two6, three6].flatMap((block) => [through6(block, behind), through6(block)]),
  );
  for (let i = 0; i < 3; i++) deepEqual(await keep(), [through6(two6, behind), through6(three6, behind)]);
  await birdWrites(two6);
  deepEqual(await keep(), [ofBird(two6), through6(three6, behind)]);
  await clock.advance(31_000);
  deepEqual(await keep(), [ofBird(two6)]);
});

test("a route behind that a killed agent has left: it waits on, and goes before BIRD's or for ours", {
  skip,
}, async () => {
  const { keeper, real, setMode, keep, birdWrites } = await nodeOne6();
  setMode("vxlan");
  await keep();
  const leave = async () => {
    const index = (await real.link("vxlan-v6.calico"))?.index ?? 0;
    const left = { index, onlink: true, mtu: 1430, protocol: "boot", metric: 2 ** 31 + 2 ** 29 - 1 } as const;
    await real.change({ do: "create", route: { ...left, destination: two6, gateway: "fd99:0:0:1::1" } });
  };
  await leave();
  deepEqual(await keep(), [through6(two6), through6(three6)]);
  setMode("never");
  await leave();
  for (let i = 0; i < 2; i++) await keep();
  deepEqual(await keep(), [through6(two6, behind), through6(three6, behind)]);
  match(keeper.routes.troubles.worst()?.detail ?? "", /BIRD has no route/);
  setMode("vxlan");
  deepEqual(await keep(), [through6(two6), through6(three6)]);
  setMode("never");
  for (let i = 0; i < 2; i++) await keep();
  for (const block of [two6, three6]) await birdWrites(block);
  deepEqual(await keep(), [ofBird(two6), ofBird(three6)]);
});

test("without BIRD no route steps behind anything, and one that has been left goes", { skip }, async () => {
  const { real, setMode, keep } = await nodeOne6({ bgp: "none" });
  setMode("vxlan");
  await keep();
  const index = (await real.link("eth0"))?.index ?? 0;
  const left = { index, onlink: true, protocol: 80, metric: 2 ** 31 + 2 ** 29 - 1 } as const;
  await real.change({ do: "create", route: { ...left, destination: two6, gateway: "fd30::2" } });
  setMode("never");
  for (let i = 0; i < 2; i++)
    deepEqual(await keep(), [
      `${two6} via fd30::2 dev eth0 proto 80 onlink`,
      `${three6} via fd30::3 dev eth0 proto 80 onlink`,
    ]);
});

test("from our own plain routes to BIRD's: those of IPv6 step behind, those of IPv4 have no need to", {
  skip,
}, async () => {
  const { keeper, real, set, keep, namespace } = await nodeOne6();
  set(poolPath("10.99.0.0/16"), poolValue("10.99.0.0/16", "never"));
  const index = (await real.link("eth0"))?.index ?? 0;
  const left = { index, onlink: true, protocol: 80 } as const;
  await real.change({ do: "create", route: { ...left, destination: two, gateway: "172.30.0.2" } });
  await real.change({ do: "create", route: { ...left, destination: two6, gateway: "fd30::2" } });
  set(poolPath(pool6), poolValue(pool6, "never"));
  for (let i = 0; i < 2; i++) await keep();
  deepEqual(await kernelRoutes(namespace), [
    `${two} via 172.30.0.2 dev eth0 proto 80 onlink`,
    `${two6} via fd30::2 dev eth0 proto 80 ${behind}onlink`,
  ]);
  deepEqual(keeper.routes.counts.written, 1);
});

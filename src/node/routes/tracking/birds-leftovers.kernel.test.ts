// Where no BIRD is configured, what one has left in the kernel goes when none answers for a minute, and only that.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { noNamespaces } from "../../../../test/kit/namespace.ts";
import { nodeOne } from "../../../../test/kit/route-nodes/kept-node.ts";
import type { BirdRoutes } from "./bgp-hops.ts";

const skip = noNamespaces;
const ours = [
  "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80 onlink",
  "10.99.2.0/26 via 172.30.1.3 dev eth0 proto 80 onlink",
  "blackhole 10.99.0.0/26 proto 80",
];
const [stale, bridged, elsewhere] = [
  "10.99.1.7/32 via 172.30.0.3 dev eth0 proto bird metric 1024 onlink",
  "10.99.9.0/26 via 172.30.0.3 dev eth0 proto 81 metric 1 onlink",
  "192.0.2.0/24 via 172.30.0.3 dev eth0 proto bird metric 1024 onlink",
];

/** What has been left, beside the same of a pool that is nobody's. */
async function nodeWithLeftovers(settings: { readonly [name: string]: string } = {}) {
  const clock = new FakeClock();
  let told: BirdRoutes = { 4: undefined, 6: undefined };
  const node = await nodeOne({ clock, settings, bgp: "none", askBird: async () => told });
  const index = (await node.real.link("eth0"))?.index ?? 0;
  const left = { index, gateway: "172.30.0.3", onlink: true } as const;
  for (const route of [
    { ...left, destination: "10.99.1.7/32", protocol: "bird", metric: 1024 },
    { ...left, destination: "10.99.9.0/26", protocol: 81, metric: 1 },
    { ...left, destination: "192.0.2.0/24", protocol: "bird", metric: 1024 },
    { destination: "10.99.8.0/26", type: "blackhole", protocol: "bird" },
  ] as const)
    await node.real.change({ do: "create", route });
  node.setMode("never");
  await node.keep();
  const after = async (ms: number) => {
    await clock.advance(ms);
    await node.keeper.checkHops(new AbortController().signal);
    return await node.keep();
  };
  const tell = (now: BirdRoutes) => {
    told = now;
  };
  return { ...node, after, tell };
}

test("they go when no BIRD has answered for a minute; what lies in no pool stays", { skip }, async () => {
  const { after } = await nodeWithLeftovers();
  const all = [...ours, stale, bridged, elsewhere, "blackhole 10.99.8.0/26 proto bird"].sort();
  for (const ms of [0, 30_000, 29_000]) deepEqual(await after(ms), all);
  deepEqual(await after(21_000), [...ours, elsewhere].sort());
});

test("a BIRD that answers keeps its routes, and the minute begins anew when it goes", { skip }, async () => {
  const { after, tell } = await nodeWithLeftovers();
  tell({ 4: [], 6: undefined });
  for (let i = 0; i < 6; i++) deepEqual((await after(30_000)).includes(stale), true);
  tell({ 4: undefined, 6: undefined });
  for (const ms of [30_000, 30_000]) deepEqual((await after(ms)).includes(stale), true);
  deepEqual((await after(30_000)).includes(stale), false);
});

test("where somebody else writes the routes of the pool, they stay", { skip }, async () => {
  const { after } = await nodeWithLeftovers({ ProgramClusterRoutes: "Disabled" });
  await after(0);
  await after(30_000);
  deepEqual((await after(60_000)).includes(stale), true);
});

test("a route that comes later is of somebody who lives", { skip }, async () => {
  const { after, real } = await nodeWithLeftovers();
  for (const ms of [0, 30_000, 60_000]) await after(ms);
  const index = (await real.link("eth0"))?.index ?? 0;
  const route = { destination: "10.99.1.7/32", gateway: "172.30.0.3", index, onlink: true, metric: 1024 } as const;
  await real.change({ do: "create", route: { ...route, protocol: "bird" } });
  for (const ms of [60_000, 60_000, 60_000]) deepEqual((await after(ms)).includes(stale), true);
});

test("while BIRD is asked, nobody is kept busy by what is due", { skip }, async () => {
  const clock = new FakeClock();
  const { promise, resolve } = Promise.withResolvers<BirdRoutes>();
  const { keeper } = await nodeOne({ clock, bgp: "none", askBird: () => promise });
  equal(keeper.hopsDueMs <= clock.monotonicMs(), true);
  const checking = keeper.checkHops(new AbortController().signal);
  equal(keeper.hopsDueMs > clock.monotonicMs(), true);
  resolve({ 4: undefined, 6: undefined });
  await checking;
});

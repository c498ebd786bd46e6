// Routes that BIRD writes: which hops are right, and when BIRD is asked.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import type { Route } from "../../../base/linux/kernel.ts";
import { BgpHops, type BirdRoute, wrongHop } from "./bgp-hops.ts";

const route = (more: Partial<Route> = {}): Route => ({
  ...{ family: "inet", destination: "10.1.0.0/26", type: "unicast", table: 254, protocol: "bird", scope: "global" },
  ...{ gateway: "172.16.0.2", index: 2, metric: 1024 },
  ...more,
});

const learned = (gateway: string, more: Partial<BirdRoute> = {}): BirdRoute => ({
  ...{ destination: "10.1.0.0/26", gateway, from: "Mesh_172_16_0_2", isOfSession: true, isBest: true },
  ...more,
});
const router = "172.16.0.254";
const hopCases: { name: string; kernel: string[]; bird: BirdRoute[]; wrong: RegExp | undefined }[] = [
  { name: "a router that BIRD knows from a session", kernel: [router], bird: [learned(router)], wrong: undefined },
  {
    name: "several, and BIRD has them all",
    kernel: ["172.16.0.3", "172.16.0.4"],
    bird: [learned("172.16.0.3"), learned("172.16.0.4", { isBest: false })],
    wrong: undefined,
  },
  {
    name: "another than BIRD's",
    kernel: ["172.16.0.9"],
    bird: [learned(router)],
    wrong: /kernel's route leads to 172\.16\.0\.9, BIRD's to 172\.16\.0\.254/,
  },
  {
    name: "one that BIRD has, but not as its best",
    kernel: ["172.16.0.3"],
    bird: [learned(router), learned("172.16.0.3", { isBest: false })],
    wrong: /BIRD's to 172\.16\.0\.254/,
  },
  { name: "BIRD has none", kernel: [router], bird: [], wrong: /BIRD has no route to it/ },
  {
    name: "BIRD has it from somebody else",
    kernel: [router],
    bird: [learned(router, { from: "kernel1", isOfSession: false })],
    wrong: /from kernel1, which is no session/,
  },
  { name: "no gateway", kernel: [], bird: [learned(router)], wrong: /leads to no gateway/ },
];
for (const { name, kernel, bird, wrong } of hopCases) {
  test(`the hop of a route that BIRD writes: ${name}`, () => {
    const why = wrongHop(kernel, bird);
    if (wrong === undefined) equal(why, undefined);
    else match(why ?? "", wrong);
  });
}

test("BIRD is asked only where a route leads elsewhere than to its node, and its word counts until the route changes", async () => {
  let nowMs = 0;
  let asked = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const hops = new BgpHops(clock, async () => {
    asked += 1;
    return { 4: [learned(router)], 6: undefined };
  });
  const { signal } = new AbortController();
  hops.see("10.1.0.0/26", "172.16.0.2", [route()]);
  equal(hops.dueMs, Number.POSITIVE_INFINITY, "to its own node: nothing to ask");
  hops.see("10.1.0.0/26", "172.16.0.2", [route({ gateway: "172.16.0.9" })]);
  hops.see("fd00::/122", "fd01::2", [route({ destination: "fd00::/122", gateway: "fd01::9" })]);
  equal(hops.dueMs, 0);
  deepEqual(await hops.check(signal), ["10.1.0.0/26"]);
  match(hops.wrongWith("10.1.0.0/26") ?? "", /leads to 172\.16\.0\.9/);
  equal(hops.wrongWith("fd00::/122"), undefined, "nobody answers for the other family");
  equal(hops.dueMs, 2_000, "asked again soon");
  hops.see("10.1.0.0/26", "172.16.0.2", [route({ gateway: router })]);
  equal(hops.dueMs, 0, "another hop: asked at once");
  deepEqual(await hops.check(signal), ["10.1.0.0/26"]);
  equal(hops.wrongWith("10.1.0.0/26"), undefined);
  equal(hops.dueMs, 30_000);
  nowMs = 1_000;
  hops.forget("10.1.0.0/26");
  hops.forget("fd00::/122");
  deepEqual([hops.dueMs, asked], [Number.POSITIVE_INFINITY, 2]);
});

// Which of our routes that wait for BIRD's step behind it, and when the one in its way may go.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Route } from "../../../base/linux/kernel.ts";
import { highestBirdMetric } from "../../../calico/routing/index.ts";
import { stepBehind } from "./behind-bird.ts";

const behind = 2_684_354_559;
const route = (more: Partial<Route> = {}): Route => ({
  ...{ family: "inet6", destination: "fd00:1::/122", type: "unicast", table: 254, protocol: "boot", scope: "global" },
  ...{ gateway: "fd00:1::1", index: 7, onlink: true, mtu: 1430, metric: 1024 },
  ...more,
});
const route4 = (more: Partial<Route> = {}): Route => {
  const { metric, ...rest } = route({ family: "inet", destination: "10.1.0.0/26", gateway: "10.1.0.1" });
  return { ...rest, ...more };
};
const hop = { index: 7, gateway: "fd00:1::1", weight: 1, onlink: true };

const cases: { name: string; waiting: Route[]; wanted?: number; goes?: (number | undefined)[] }[] = [
  { name: "none", waiting: [] },
  { name: "IPv6 with the kernel's metric", waiting: [route()], wanted: behind },
  { name: "IPv6 that is told without one", waiting: [route({ metric: 0 })], wanted: behind },
  { name: "with the greatest metric that BIRD gives", waiting: [route({ metric: highestBirdMetric })], wanted: behind },
  { name: "IPv4, which has no metric", waiting: [route4()] },
  { name: "IPv4 beside one of IPv4's with 0", waiting: [route4(), route4({ metric: 0 })] },
  { name: "the one behind is there", waiting: [route(), route({ metric: behind })], wanted: behind, goes: [1024] },
  {
    ...{
      name: "the one behind leads elsewhere",
      waiting: [route(), route({ metric: behind, gateway: "::2" })],
    },
    wanted: behind,
  },
  { name: "one behind, with another MTU", waiting: [route(), route({ metric: behind, mtu: 1280 })], wanted: behind },
  { name: "only the one behind is left", waiting: [route({ metric: behind })] },
  { name: "two in the way: one after the other", waiting: [route(), route({ metric: 512 })], wanted: behind },
  {
    ...{
      name: "of two in the way the first may go",
      waiting: [route(), route({ metric: 512 }), route({ metric: behind })],
    },
    ...{ wanted: behind, goes: [1024] },
  },
  { name: "several hops", waiting: [route({ hops: [hop, { ...hop, gateway: "fd00:1::2" }] })] },
];
for (const { name, waiting, wanted, goes = [] } of cases) {
  test(`waiting for BIRD: ${name}`, () => {
    const step = stepBehind(waiting);
    equal(step.wanted?.metric, wanted);
    deepEqual(
      waiting.filter(step.mayGo).map(({ metric }) => metric),
      goes,
    );
  });
}

test("the one behind is the same in everything but the metric", () => {
  const { family: _family, scope: _scope, ...written } = route({ source: "fd00::1" });
  deepEqual(stepBehind([route({ source: "fd00::1" })]).wanted, { ...written, metric: behind });
  const plain = { destination: "fd00:1::/122", type: "unicast", table: 254, protocol: 80 } as const;
  deepEqual(stepBehind([{ ...plain, family: "inet6", scope: "global" }]).wanted, { ...plain, metric: behind });
});

test("its metric is behind all of BIRD's, and one that the kernel can keep", () =>
  equal(behind > highestBirdMetric && behind < 2 ** 32, true));

// The metric of a route in the kernel, from what BIRD 2 says of its best one.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { metricOf } from "./other-metrics.ts";

const bgp = (name: string, { isBest = false, preference }: { isBest?: boolean; preference?: number }) => [
  `10.9.0.0/16          unicast [${name} 04:32:21.247] ${isBest ? "* " : ""}(100) [AS64998i]`,
  "\tvia 172.30.0.201 on eth0",
  "\tType: BGP univ",
  "\tBGP.as_path: 64998",
  ...(preference === undefined ? [] : [`\tBGP.local_pref: ${preference}`]),
];
const blackhole = ["10.9.0.0/16          blackhole [static1 04:32:21.247] * (200)", "\tType: static univ"];

const cases: { name: string; lines: readonly string[]; metric: number | undefined }[] = [
  {
    name: "the local preference, turned round",
    lines: bgp("a", { isBest: true, preference: 2147483147 }),
    metric: 500,
  },
  { name: "but never 0", lines: bgp("a", { isBest: true, preference: 2147483647 }), metric: 1 },
  {
    name: "of the best one, not of another one",
    lines: [...bgp("a", { preference: 100 }), ...bgp("b", { isBest: true, preference: 2147482623 })],
    metric: 1024,
  },
  {
    name: "nor of one that comes after it",
    lines: [...blackhole, ...bgp("b", { preference: 2147482623 })],
    metric: 0,
  },
  { name: "a route of BGP without a preference is not judged", lines: bgp("a", { isBest: true }), metric: undefined },
  { name: "nor one that BIRD has not", lines: ["Network not found"], metric: undefined },
];
for (const { name, lines, metric } of cases) {
  test(`BIRD's metric: ${name}`, () =>
    equal(metricOf(["Table master4:", ...lines].map((text) => ({ code: 1007, text }))), metric));
}

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { noMetrics } from "../../fanout/index.ts";
import { UncountedDials } from "./uncounted-dials.ts";

const accepted = "typha_connections_accepted";
const active = "typha_connections_active";
const closed = "cattail_connections_closed_total";

type Step = "dial" | "failed" | Parameters<UncountedDials["add"]>;
const cases: { name: string; isTls?: boolean; steps: Step[]; counted: { [key: string]: number } }[] = [
  {
    name: "a dial and nobody else",
    steps: ["dial", [accepted, undefined, 1], [closed, "WIRE_PEER_CLOSED", 1]],
    counted: { [accepted]: 0, [`${closed} WIRE_PEER_CLOSED`]: 0 },
  },
  {
    name: "with TLS it ends otherwise",
    isTls: true,
    steps: ["dial", [accepted, undefined, 1], [closed, "WIRE_PEER_CLOSED", 1], [closed, "FANOUT_TLS", 1]],
    counted: { [accepted]: 0, [`${closed} WIRE_PEER_CLOSED`]: 1, [`${closed} FANOUT_TLS`]: 0 },
  },
  {
    name: "among clients of several threads, each dial is taken out once",
    steps: ["dial", [accepted, undefined, 5], [accepted, undefined, 1], "dial", [accepted, undefined, 2]],
    counted: { [accepted]: 6 },
  },
  {
    name: "a dial that failed was counted by nobody",
    steps: ["dial", "failed", [accepted, undefined, 1]],
    counted: { [accepted]: 1 },
  },
  {
    name: "a dial that its thread never counted is taken out of nothing but once",
    steps: ["dial", "dial", [accepted, undefined, 1], [accepted, undefined, 1]],
    counted: { [accepted]: 1 },
  },
  {
    name: "gauges go up and down as they do",
    steps: ["dial", [active, undefined, 1], [active, undefined, -1]],
    counted: { [active]: 0 },
  },
];
for (const { name, isTls = false, steps, counted } of cases) {
  test(`our own dials are not counted: ${name}`, () => {
    const sums: { [key: string]: number } = {};
    const add = (metric: string, label: string | undefined, difference: number) => {
      const key = label === undefined ? metric : `${metric} ${label}`;
      sums[key] = (sums[key] ?? 0) + difference;
    };
    const counts = new UncountedDials({ ...noMetrics, add }, { isTls });
    for (const step of steps) {
      if (step === "dial") counts.expectOwn();
      else if (step === "failed") counts.forgetOwn();
      else counts.add(...step);
    }
    deepEqual(sums, counted);
  });
}

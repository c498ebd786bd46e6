// The rules about BIRD, the original's and the strict ones, and how long a session has been down. The command itself is in the recorded cases.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import type { Peer } from "../../bird/asking.ts";
import { goDurationMs } from "../settings/duration.ts";
import { type BirdState, downForMs, whyNotReady } from "./bird.ts";

const peer = (address: string, info: string, since = "2026-01-01"): Peer => ({
  ...{ address, info, since, family: 4, type: "node-to-node mesh", state: info === "Established" ? "up" : "start" },
});
const up = peer("10.0.0.1", "Established");
const down = peer("10.0.0.2", "Active Socket: Connection refused");
const kernel = (state: string) => ({ name: "kernel1", kind: "Kernel", state, since: "", info: "" });
const state = (given: Partial<BirdState>): BirdState => ({
  ...{ socket: "", peers: [up], kernelProtocols: [kernel("up")], isRestarting: false },
  ...given,
});
const early = { ageMs: 1000, thresholdMs: 30_000 };
const late = { ageMs: 31_000, thresholdMs: 30_000 };
const strict = { ...late, strict: { graceMs: 10_000, clock: systemClock } };
const clockNow = (agoMs: number) => {
  const at = new Date(systemClock.wallMs() - agoMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
};

const rules: { name: string; given: Partial<BirdState>; rule: Parameters<typeof whyNotReady>[1]; why?: string }[] = [
  { name: "no peers", given: { peers: [] }, rule: early },
  { name: "one down, early", given: { peers: [up, down] }, rule: early, why: "BGP not established with 10.0.0.2" },
  { name: "one down, late", given: { peers: [up, down] }, rule: late },
  { name: "all down, late", given: { peers: [down] }, rule: late, why: "BGP not established with 10.0.0.2" },
  { name: "restarting, early", given: { isRestarting: true }, rule: early, why: "graceful restart in progress" },
  { name: "restarting, late", given: { isRestarting: true }, rule: late },
  { name: "strict, one down", given: { peers: [up, down] }, rule: strict, why: "BGP not established with 10.0.0.2" },
  {
    name: "strict, one down for a moment",
    given: { peers: [up, peer("10.0.0.3", "Connect", clockNow(3000))] },
    rule: strict,
  },
  { name: "strict, restarting", given: { isRestarting: true }, rule: strict, why: "graceful restart in progress" },
  {
    name: "strict, the kernel's protocol waits",
    given: { kernelProtocols: [kernel("wait")] },
    rule: strict,
    why: "kernel routes are not written yet by kernel1",
  },
  { name: "strict, all well", given: {}, rule: strict },
];
for (const { name, given, rule, why } of rules) {
  test(`BIRD: ${name}`, () => equal(whyNotReady(state(given), rule), why));
}

test("since when: a time of today or yesterday, else long ago", () => {
  const noon = new Date(2026, 10, 17, 12, 0, 0).getTime();
  equal(downForMs("11:59:30", noon), 30_000);
  equal(downForMs("11:59:30.500", noon), 29_500);
  equal(downForMs("12:00:30", noon), 24 * 3_600_000 - 30_000);
  equal(downForMs("2026-11-15", noon), Number.POSITIVE_INFINITY);
});

const durations: [string, number | undefined][] = [
  ["30s", 30_000],
  ["1m30.5s", 90_500],
  ["500ms", 500],
  ["0", 0],
  ["-1s", -1000],
  ["1h", 3_600_000],
  ["10", undefined],
  ["", undefined],
  ["1s x", undefined],
];
for (const [text, ms] of durations) test(`duration ${JSON.stringify(text)}`, () => equal(goDurationMs(text), ms));

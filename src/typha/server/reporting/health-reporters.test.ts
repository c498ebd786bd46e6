import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { createHealth } from "../../../base/observe/index.ts";
import { syncerTypes, syncStatus } from "../../../calico/model/index.ts";
import { type HealthFacts, TyphaHealth } from "./health-reporters.ts";

const inSync = Object.fromEntries(syncerTypes.map((syncer) => [syncer, syncStatus.inSync]));
const well: HealthFacts = {
  statuses: inSync,
  tlsProblem: undefined,
  unansweredMs: 0,
  silentThreadMs: 0,
  evacuation: "fresh",
  forbidden: [],
  missed: [],
  manifestProblems: [],
};

const cases: { name: string; facts: Partial<HealthFacts>; live: boolean; ready: boolean; detail?: RegExp }[] = [
  { name: "all is well", facts: {}, live: true, ready: true },
  { name: "one cache is not in sync", facts: { statuses: { ...inSync, bgp: 1 } }, live: true, ready: false },
  { name: "TLS files are bad", facts: { tlsProblem: "expired" }, live: true, ready: false, detail: /^expired$/ },
  { name: "our port was silent for under 30 s", facts: { unansweredMs: 29_999 }, live: true, ready: true },
  {
    name: "our port is silent for 30 s",
    facts: { unansweredMs: 30_000 },
    live: true,
    ready: false,
    detail: /no answer/,
  },
  { name: "our port is silent for under two minutes", facts: { unansweredMs: 119_999 }, live: true, ready: false },
  { name: "our port is silent for two minutes", facts: { unansweredMs: 120_000 }, live: false, ready: false },
  {
    name: "one thread of several is silent for 30 s",
    facts: { silentThreadMs: 30_000 },
    live: true,
    ready: false,
    detail: /threads .* hangs/,
  },
  { name: "one thread is silent for two minutes", facts: { silentThreadMs: 120_000 }, live: false, ready: false },
  {
    name: "the datastore is silent and there is no peer",
    facts: { evacuation: "stale, no healthy peer" },
    live: true,
    ready: true,
    detail: /no healthy peer/,
  },
  {
    name: "the datastore is silent and there is a peer",
    facts: { evacuation: "handing clients over" },
    live: true,
    ready: false,
    detail: /handing clients over/,
  },
  {
    name: "a right is missing",
    facts: { forbidden: ["Node", "Pod"] },
    live: true,
    ready: false,
    detail: /may not read Node, Pod/,
  },
  {
    name: "a right to an optional kind is missing",
    facts: { missed: ["EndpointSlice"] },
    live: true,
    ready: true,
    detail: /may not read EndpointSlice/,
  },
  {
    name: "manifests have problems",
    facts: { manifestProblems: ["a.yaml:3:1: kind is missing", "b.yaml:1:1: the file is not UTF-8"] },
    live: true,
    ready: true,
    detail: /^a\.yaml:3:1: kind is missing \(and 1 more\)$/,
  },
];
for (const { name, facts, live, ready, detail } of cases) {
  test(`health of a Typha: ${name}`, () => {
    const health = createHealth({ clock: systemClock, log: silentLog });
    new TyphaHealth(health).report({ ...well, ...facts });
    const summary = health.summary();
    equal(summary.live, live);
    equal(summary.ready, ready);
    if (detail !== undefined) match(summary.components.map((one) => one.detail).join(""), detail);
  });
}

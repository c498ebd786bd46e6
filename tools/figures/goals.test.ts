// Goals are judged by what was measured, and every step of a sitting has its place on a page.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sayWrong } from "../../test/kit/campaign.ts";
import type { Recorded } from "../../test/kit/record.ts";
import { figureTable, ratio } from "./beside.ts";
import { reliabilityBlocks } from "./campaign-tables.ts";
import { goalTable, judged } from "./goal-table.ts";
import { type Goal, goals } from "./goals.ts";
import { performanceBlocks } from "./pages.ts";
import { parseRecords, type Sitting, type StepResult } from "./sitting.ts";
import { figureSteps } from "./steps.ts";

const step = (records: readonly Recorded[], outcome: StepResult["outcome"] = "passed"): StepResult => ({
  ...{
    outcome,
    command: "c",
    date: "2026-01-02T03:04",
    machine: "2 x M",
    versions: { node: "v26" },
    load: 0,
    seconds: 1,
  },
  records,
});
const empty: Sitting = { steps: {} };

describe("a goal is met or missed by its figures", () => {
  const of = (...values: number[]): Goal["cases"] =>
    values.map((value, index) => ({ says: values.length === 1 ? "" : `case ${index}`, value: () => value }));
  const half = { what: "w", step: "s", limit: 0.5, is: "at most", says: "1/2" } as const;
  const five = { what: "w", step: "s", limit: 5, is: "at least", says: "5 times" } as const;
  const passed = step([{ of: "x", figures: {} }]);
  for (const { name, goal, result, outcome, figures } of [
    { name: "below", goal: { ...half, cases: of(0.412) }, result: passed, outcome: "met", figures: "0.41" },
    {
      name: "above only in digits that are not shown",
      goal: { ...half, cases: of(0.504) },
      result: passed,
      outcome: "met",
      figures: "0.5",
    },
    { name: "above", goal: { ...half, cases: of(0.51) }, result: passed, outcome: "**missed**", figures: "0.51" },
    { name: "not enough", goal: { ...five, cases: of(4.9) }, result: passed, outcome: "**missed**", figures: "4.9" },
    { name: "enough", goal: { ...five, cases: of(20) }, result: passed, outcome: "met", figures: "20" },
    {
      name: "a unit",
      goal: { ...half, unit: "s", cases: of(0.2) },
      result: passed,
      outcome: "met",
      figures: "0.2 s",
    },
    {
      name: "missed in one of several cases",
      goal: { ...half, cases: of(0.4, 0.75, 0.5) },
      result: passed,
      outcome: "**missed** in 1 of 3",
      figures: "case 0: 0.4; case 1: **0.75**; case 2: 0.5",
    },
    {
      name: "a case that was not measured",
      goal: { ...half, cases: of(0.4, Number.NaN) },
      result: passed,
      outcome: "met; 1 not measured",
      figures: "case 0: 0.4",
    },
    {
      name: "no original to divide by",
      goal: { ...half, cases: of(1 / 0) },
      result: passed,
      outcome: "not measured in this sitting",
      figures: "",
    },
    {
      name: "a step that was not run",
      goal: { ...half, cases: of(Number.NaN) },
      result: undefined,
      outcome: "not measured in this sitting",
      figures: "",
    },
    {
      name: "a step that failed before it measured anything",
      goal: { ...half, cases: of(Number.NaN) },
      result: step([], "failed"),
      outcome: "not measured: the bench ended badly (failed)",
      figures: "",
    },
    {
      name: "a step that took too long after it had measured this",
      goal: { ...half, cases: of(0.4) },
      result: step([{ of: "x", figures: {} }], "too long"),
      outcome: "met; the bench ended badly (too long)",
      figures: "0.4",
    },
  ]) {
    test(name, () => deepEqual(judged(goal, result), [outcome, figures]));
  }
});

describe("goals are read from records as the benches write them", () => {
  const spread = (median: number) => ({ median, least: 0, most: 0 });
  const fanout = (scenario: string, ours: number, theirs: number): Recorded[] =>
    [["cattail", ours] as const, ["against", theirs] as const].map(([server, cpuMicrosPerDelivery]) => ({
      of: `${scenario} ${server}`,
      figures: { says: "s", server, cpuMicrosPerDelivery, p99Ms: cpuMicrosPerDelivery, rssMb: cpuMicrosPerDelivery },
    }));
  const sitting: Sitting = {
    steps: {
      fanout: step([...fanout("storm-1000", 1.1, 1), ...fanout("large-50", 1, 1), ...fanout("single-500", 0.55, 1)]),
      ctl: step([
        { of: "get nodes, cattail", figures: { wallMs: spread(150), cpuMs: spread(160), peakRssMb: spread(50) } },
        { of: "get nodes, original", figures: { wallMs: spread(100), cpuMs: spread(100), peakRssMb: spread(100) } },
      ]),
      // Of several turns the middle one counts.
      node: step(
        [1, 2, 9].flatMap((addP50Ms) => [
          { of: "routes of a node, behind a Typha, cattail", figures: { addP50Ms } },
          { of: "routes of a node, behind a Typha, original", figures: { addP50Ms: 10 } },
        ]),
      ),
    },
  };
  const text = goalTable(sitting);
  for (const line of [
    "| Typha: CPU of connecting | 1 | **missed** in 1 of 3; 1 not measured | 1,000 clients at once: **1.1**; 50 clients, 100,000 keys: 1 |",
    "| Typha: CPU of batches of 5, and of single updates | 1/2 | **missed** in 1 of 2; 1 not measured | single updates to 500 clients: **0.55** |",
    "| Typha: memory with many keys, or a stream to many clients | 0.6 | **missed** in 1 of 3; 1 not measured | 50 clients, 100,000 keys: **1**; single updates to 500 clients: 0.55 |",
    "| [`cattail ctl`](#ctl): time of one command | 1.5 | met; 5 not measured | nodes: 1.5 |",
    "| [routes](#routes-of-a-node): a new block to its route | 1/2 | met; 1 not measured | behind a Typha: 0.2 |",
  ]) {
    test(line, () => ok(text.includes(`\n${line}\n`), text));
  }
  test("their number comes first, their circumstances last", () => {
    match(text, /^\d+ goals: \d+ met, \d+ missed, \d+ not measured\.\n/);
    match(text, /\n\n2026-01-02, 2 x M\.$/);
  });
  test("without any result nothing is claimed", () => {
    match(goalTable(empty), new RegExp(`^${goals.length} goals: 0 met, 0 missed, ${goals.length} not measured\\.\n`));
  });
});

test("every goal belongs to a step that is a bench", () => {
  const benches = figureSteps.filter(({ kind }) => kind === "bench").map(({ name }) => name);
  deepEqual(
    [...new Set(goals.map((goal) => goal.step))].filter((name) => !benches.includes(name)),
    [],
  );
});

for (const { kind, page, blocks } of [
  { kind: "bench", page: "docs/performance.md", blocks: performanceBlocks },
  { kind: "campaign", page: "docs/reliability.md", blocks: reliabilityBlocks },
]) {
  describe(page, () => {
    // What is not measured names its step.
    const named = Object.values(blocks).flatMap((make) => [...make(empty).matchAll(/--only ([\w-]+)/g)]);
    const shownSteps = [...new Set(named.map(([, name = ""]) => name))].sort();
    const known = figureSteps.filter((each) => each.kind === kind).map(({ name }) => name);
    test(`there is a table for every ${kind}, and none of something else`, () => deepEqual(shownSteps, known.sort()));
    test("every table stands on the page, once", () => {
      const there = [...readFileSync(page, "utf8").matchAll(/<!-- figures:(\S+) -->/g)].map(([, name = ""]) => name);
      deepEqual(there.sort(), Object.keys(blocks).sort());
    });
  });
}

describe("a step that ended badly", () => {
  for (const [name, make] of Object.entries({ ...performanceBlocks, ...reliabilityBlocks })) {
    const steps = Object.fromEntries(figureSteps.map((each) => [each.name, step([], "failed")]));
    test(`${name}: is said to have failed, and shows no number`, () => {
      const text = make({ steps });
      match(text, /failed/);
      equal(/NaN|Infinity|undefined/.test(text), false);
    });
  }
});

test("a campaign that found something says what, with its seed", () => {
  const records = [
    { of: "routes of five nodes", seed: 7, figures: { changes: 12, wrong: "pool a|b: n1: no route" } },
    { of: "routes of five nodes", seed: 8, figures: { changes: 1000, p50Ms: 98, p99Ms: 1113, worstMs: 1506 } },
  ];
  const text = reliabilityBlocks["node-routes"]?.({ steps: { "node-routes": step(records, "failed") } }) ?? "";
  match(text, /^\| 7 \| 12 \| \*\*pool a\\\|b: n1: no route\*\* \| – \/ – \/ – \|$/m);
  match(text, /^\| 8 \| 1,000 \| 0 \| 98 \/ 1,113 \/ 1,506 \|$/m);
  match(text, /It did not pass \(failed\)/);
});

test("of batches that are counted on only the last is shown", () => {
  const counted = [100, 200].map((clusters) => ({ of: "random clusters", seed: 1, figures: { clusters, flows: 9 } }));
  const probes = { of: "probes", seed: 1, figures: { probes: 5, changes: 2, late: 1, lost: 0, wrong: 0 } };
  const text = reliabilityBlocks.policies?.({ steps: { policies: step([...counted, probes]) } }) ?? "";
  ok(text.includes("| random clusters | 200 clusters, 9 flows | none differs | 1 |"), text);
  ok(text.includes("| probes | 5 probes, 2 changes | 1 late, 0 lost, 0 wrong | 1 |"), text);
  equal(text.includes("100 clusters"), false);
});

test("ours beside the other's: in bold where it is better, and empty where one was not measured", () => {
  deepEqual(
    [ratio(1, 2), ratio(2, 1), ratio(2, 1, "more"), ratio(1, 0), ratio(Number.NaN, 1)],
    ["**0.50**", "2.00", "**2.00**", "", ""],
  );
  const row = { says: "time", ours: "a", theirs: "b", name: "ms", unit: "ms" };
  const alone = [{ of: "a", figures: { ms: 4 } }];
  equal(figureTable(alone, "what", [row]), "| what | Cattail |\n| --- | --- |\n| time | 4 ms |");
});

test("what a campaign finds is kept with what it had done until then: the first line of it, and the seed", () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-wrong-"));
  const { RESULTS } = process.env;
  try {
    process.env.RESULTS = join(folder, "results.jsonl");
    sayWrong("routes of five nodes", new Error("n1: no route\nand a long log"), { changes: 12 }, 7);
    const { records } = parseRecords(readFileSync(process.env.RESULTS, "utf8"));
    deepEqual(records, [{ of: "routes of five nodes", seed: 7, figures: { changes: 12, wrong: "n1: no route" } }]);
  } finally {
    if (RESULTS === undefined) delete process.env.RESULTS;
    else process.env.RESULTS = RESULTS;
    rmSync(folder, { recursive: true });
  }
});

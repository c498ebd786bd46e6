import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { cpuMillis, loadOf, memoryMb, resourcesOf } from "./sizing.ts";

type Figures = { server?: string; keys: number; clients: number; peakRssMb: number; cpuMicrosPerDelivery: number };

/** Of every run of a server of ours that bench:fanout has written down, storms included. */
function measured(): (Figures & { of: string })[] {
  return globSync("bench/results/*.json").flatMap((file) => {
    // written by tools/figures
    const { steps } = JSON.parse(readFileSync(file, "utf8")) as {
      steps: { [name: string]: { records: { of: string; figures: Figures }[] } };
    };
    const records = [...(steps.fanout?.records ?? []), ...(steps.flat?.records ?? [])];
    return records.map(({ of, figures }) => ({ of, ...figures })).filter(({ server }) => server === "cattail");
  });
}

test("memory: no measured server ever held more than the rule says", () => {
  const runs = measured();
  ok(runs.length >= 9, `${runs.length} runs`);
  for (const { of, keys, clients, peakRssMb } of runs) {
    const mb = memoryMb({ keys, connections: clients, changesPerSecond: 0 });
    ok(peakRssMb <= mb * 1.01, `${of}: ${peakRssMb} MB, and the rule says ${mb}`);
    ok(mb < peakRssMb * 1.7, `${of}: the rule says ${mb} MB for ${peakRssMb}`);
  }
});

/** Of the streams in bench/fanout/scenarios.ts: updates a second. */
const streams: { [scenario: string]: number } = { "batch-100": 2000, "batch-5": 500, "single-500": 200 };

test("CPU: no measured stream of changes cost more than the rule says", () => {
  const runs = measured().flatMap((run) => {
    const changesPerSecond = streams[run.of.split(" ")[0] ?? ""];
    return changesPerSecond === undefined ? [] : [{ ...run, changesPerSecond }];
  });
  ok(runs.length >= 3);
  for (const { of, keys, clients, cpuMicrosPerDelivery, changesPerSecond } of runs) {
    const used = (cpuMicrosPerDelivery * changesPerSecond * clients) / 1000;
    const rule = cpuMillis({ keys, connections: 4 * clients, changesPerSecond });
    ok(used <= rule, `${of}: ${used}m, and the rule says ${rule}m`);
  }
});

test("the table of the sizing page is the rule's", () => {
  const page = readFileSync("docs/guide/sizing.md", "utf8");
  const rows = [...page.matchAll(/^\| ([\d,]+) \| (\d+) \| (\d+Mi) \/ (\d+Mi) \| (\d+m) \|$/gm)];
  ok(rows.length >= 5);
  for (const [, nodes = "", replicas, request, limit, cpu] of rows)
    deepEqual(resourcesOf({ nodes: Number(nodes.replace(",", "")), replicas: Number(replicas) }), {
      requests: { cpu, memory: request },
      limits: { memory: limit },
    });
});

const sizes: { nodes: number | undefined; replicas: number; resources: unknown }[] = [
  { nodes: undefined, replicas: 3, resources: { requests: { cpu: "100m", memory: "256Mi" } } },
  {
    nodes: 50,
    replicas: 2,
    resources: { requests: { cpu: "100m", memory: "224Mi" }, limits: { memory: "448Mi" } },
  },
  {
    nodes: 500,
    replicas: 4,
    resources: { requests: { cpu: "150m", memory: "416Mi" }, limits: { memory: "832Mi" } },
  },
  {
    nodes: 5000,
    replicas: 20,
    resources: { requests: { cpu: "1400m", memory: "1568Mi" }, limits: { memory: "3136Mi" } },
  },
];
for (const { nodes, replicas, resources } of sizes)
  test(`${nodes ?? "unknown"} nodes and ${replicas} servers`, () =>
    deepEqual(resourcesOf({ nodes, replicas }), resources));

test("more nodes never need less, and more servers never more", () => {
  for (let nodes = 1; nodes < 3000; nodes += 7) {
    for (const replicas of [2, 3, 5, 9]) {
      const load = loadOf({ nodes, replicas });
      const larger = loadOf({ nodes: nodes + 7, replicas });
      const shared = loadOf({ nodes, replicas: replicas + 1 });
      ok(memoryMb(load) <= memoryMb(larger) && memoryMb(shared) <= memoryMb(load));
      ok(cpuMillis(load) <= cpuMillis(larger) && cpuMillis(shared) <= cpuMillis(load));
    }
  }
});

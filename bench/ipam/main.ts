// What an address costs: calls of the API server, time, and how many a second sixteen requests at a time get on one node. Ours in a program
// that lives on the node, ours as a runtime starts it, and next to them the original's calico-ipam, on the same API server, in turns.
//   npm run bench:ipam -- [--against calico-ipam] [--rounds 15] [--many 96] [--others 300]
// Goals: at most 3 calls each for ADD and DEL in a warm block with the resident cache, at most 8 without; five times the original's
// addresses a second; and a cache whose memory does not grow with the cluster.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../../test/kit/cluster.ts";
import { installCrds } from "../../test/kit/crds.ts";
import { record } from "../../test/kit/record.ts";
import { fill } from "../ctl/scenes.ts";
import { median } from "../median.ts";
import { makePackage } from "../start/as-package.ts";
import { type CountingProxy, startCountingProxy } from "./counting-proxy.ts";
import { programSubject, residentSubject, type Stage, type Subject, writeKubeconfig } from "./subjects.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "15" },
    many: { type: "string", default: "96" },
    others: { type: "string", default: "300" },
  },
});
const atOnce = 16;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // what the flag brings

const peer = await clusterPeer();
if (peer.path === undefined) throw new Error(`no API server to measure with: ${peer.missing}`);
using built = await makePackage();
const folder = mkdtempSync(join(tmpdir(), "cattail-bench-ipam-"));
await using cluster = await startCluster();
await installCrds(
  cluster,
  customKinds.map((kind) => crdManifest(kind)),
);
await fill(cluster, 20);
await using proxy = await startCountingProxy(cluster);
const kubeconfig = writeKubeconfig(folder, proxy.server);
const ending = new AbortController();
const stage = async (node: string): Promise<Stage> => {
  await addNode(cluster, node);
  return { folder, kubeconfig, node };
};
const own = await residentSubject(await stage("bench-resident"), ending.signal);
const program = [process.execPath, join(resolve(built.folder), "bin/cattail"), "cni", "ipam"];
const subjects: Subject[] = [
  own,
  programSubject("cattail, program", program, await stage("bench-program")),
  ...(flags.against === undefined
    ? []
    : [programSubject("original", [resolve(flags.against)], await stage("bench-original"))]),
];

console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
for (const subject of subjects) for (const name of ["warm-1", "warm-2"]) await subject.add(`${slug(subject)}-${name}`);
const inTurns = await oneByOne(Number(flags.rounds));
const together = await manyAtOnce(Number(flags.many));
for (const subject of subjects) print(subject);
await printMemory(Number(flags.others));
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
ending.abort();
rmSync(folder, { recursive: true, force: true });
process.exit(); // connections that are kept open have no end of their own

type Took = { readonly calls: number; readonly ms: number };
type Figures = { readonly add: Took[]; readonly del: Took[] };

async function oneByOne(rounds: number): Promise<Map<Subject, Figures>> {
  const figures = new Map<Subject, Figures>(subjects.map((subject) => [subject, { add: [], del: [] }]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, { add, del }] of figures) {
      const container = `${slug(subject)}-one-${round}`;
      add.push(await measured(proxy, () => subject.add(container)));
      del.push(await measured(proxy, () => subject.del(container)));
    }
  }
  return figures;
}

async function measured({ take }: CountingProxy, act: () => Promise<void>): Promise<Took> {
  take();
  const startMs = performance.now();
  await act();
  return { ms: performance.now() - startMs, calls: take().length };
}

type Rates = {
  readonly added: number;
  readonly deleted: number;
  readonly callsOfAdd: number;
  readonly callsOfDel: number;
};

async function manyAtOnce(count: number): Promise<Map<Subject, Rates>> {
  const rates = new Map<Subject, Rates>();
  for (const subject of subjects) {
    const names = Array.from({ length: count }, (_, at) => `${slug(subject)}-many-${at}`);
    const add = await measured(proxy, () => inParallel(names, (name) => subject.add(name)));
    const del = await measured(proxy, () => inParallel(names, (name) => subject.del(name)));
    rates.set(subject, {
      added: (1000 * count) / add.ms,
      deleted: (1000 * count) / del.ms,
      callsOfAdd: add.calls / count,
      callsOfDel: del.calls / count,
    });
  }
  return rates;
}

async function inParallel(names: readonly string[], act: (name: string) => Promise<void>): Promise<void> {
  const waiting = names.values();
  const worker = async () => {
    for (const name of waiting) await act(name);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function print(subject: Subject): void {
  const one = inTurns.get(subject);
  const many = together.get(subject);
  if (one === undefined || many === undefined) return;
  const [addMs, delMs] = [median(one.add.map(({ ms }) => ms)), median(one.del.map(({ ms }) => ms))];
  const [addCalls, delCalls] = [median(one.add.map(({ calls }) => calls)), median(one.del.map(({ calls }) => calls))];
  const each = `ADD ${addMs.toFixed(1)} ms, ${addCalls} calls; DEL ${delMs.toFixed(1)} ms, ${delCalls} calls`;
  const rate = `${atOnce} at a time: ${many.added.toFixed(0)} ADD/s (${many.callsOfAdd.toFixed(1)} calls each), ${many.deleted.toFixed(0)} DEL/s (${many.callsOfDel.toFixed(1)} calls each)`;
  console.log(`${subject.who.padEnd(18)} ${each}; ${rate}`);
  const figures = { addMs, delMs, addCalls, delCalls, addsPerSecond: many.added, delsPerSecond: many.deleted };
  record({ of: subject.who, figures });
}

/** What a cache keeps, in a small cluster and in a larger one. */
async function printMemory(others: number): Promise<void> {
  const before = await keptKb("bench-memory-1");
  await fill(cluster, others);
  const after = await keptKb("bench-memory-2");
  console.log(`what a cache keeps: ${before.toFixed(0)} KB with 20 nodes, ${after.toFixed(0)} KB with ${others} nodes`);
  record({ of: "memory", figures: { keptKb: before, keptKbInLarger: after, others } });
}

/** Of ten caches, the tenth part: one is too little to be seen. */
async function keptKb(node: string): Promise<number> {
  const at = await stage(node);
  const count = 10;
  const before = await heapInUse();
  const until = new AbortController();
  const caches = await Promise.all(Array.from({ length: count }, () => residentSubject(at, until.signal)));
  for (const [index, cache] of caches.entries()) await cache.add(`${node}-${index}`);
  const kept = (await heapInUse()) - before;
  until.abort();
  return kept / 1024 / caches.length;
}

/** What was just let go is gone after the second time. */
async function heapInUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await sleep(200);
  }
  return process.memoryUsage().heapUsed;
}

function slug({ who }: Subject): string {
  return who.replaceAll(/[^a-z]+/g, "-");
}

async function addNode({ ask }: Cluster, name: string): Promise<void> {
  await ask("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
}

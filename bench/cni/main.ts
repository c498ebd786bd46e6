// What a pod's network costs when a runtime asks for it: ADD and DEL one after another and sixteen at a time, with requests at the API server, processor
// time, and the memory of the started process. Ours with an agent, ours alone, the original's plugins, and as the floor ptp with host-local, in turns.
//   npm run bench:cni -- [--against DIR] [--rounds 100] [--many 96] [--binary FILE] [--only REGEXP]
// DIR has the original's calico and calico-ipam; FILE is our single executable. Needs root: everything runs in a network namespace of its own.
// Goals: p50 at most half of the original's, p99 at most its p50, a third of its requests, half of its memory, four times as many a second.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createNamespace, deleteNamespace, inNamespace } from "../../src/base/linux/kernel.ts";
import type { Cluster } from "../../test/kit/cluster.ts";
import { startCniAgent } from "../../test/kit/cni-agent.ts";
import { record } from "../../test/kit/record.ts";
import { makePackage } from "../start/as-package.ts";
import { type Call, openRuntime, type Result, type Subject } from "./runtime.ts";
import { bringUp, floorSubject, nodeName, originalSubject, ownSubject, requestsOf, startStage } from "./stage.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "100" },
    many: { type: "string", default: "96" },
    binary: { type: "string" },
    only: { type: "string" },
    inside: { type: "boolean", default: false },
  },
});
const atOnce = 16;
const mark = `cattail-bench-${flags.inside ? process.ppid : process.pid}`;

if (flags.inside) await measure();
else await inOwnNamespace();

/** The process itself moves: whatever it starts is then on the node. */
async function inOwnNamespace(): Promise<void> {
  const path = createNamespace(mark);
  try {
    const words = [...process.argv.slice(1), "--inside"];
    const child = inNamespace(path, () => spawn(process.execPath, words, { stdio: "inherit" }));
    const [code] = await once(child, "exit");
    process.exitCode = typeof code === "number" ? code : 1;
  } finally {
    deleteNamespace(mark);
  }
}

type Took = { readonly ADD: Result[]; readonly DEL: Result[] };

async function measure(): Promise<void> {
  bringUp();
  const [rounds, many] = [Number(flags.rounds), Number(flags.many)];
  const folder = mkdtempSync(join(tmpdir(), "cbc-"));
  const namespaces = Array.from({ length: Math.max(atOnce, many) }, (_, i) => `${mark}-${i}`);
  try {
    using built = await makePackage();
    const paths = namespaces.map((name) => createNamespace(name));
    await using cluster = await startStage(folder, namespaces.length);
    const socket = join(folder, "run", "cni.sock");
    const kubeconfig = join(folder, "kubeconfig");
    await using agent = await startCniAgent({
      namespace: "/proc/self/ns/net",
      socket,
      node: nodeName,
      datastore: { type: "kubernetes", kubeconfig, clientQps: -1 },
    });
    const file = join(built.folder, "bin", "cni-plugin.cjs");
    const agentPid = agent.process.pid ?? 0;
    const floor = await floorSubject(folder);
    const subjects: Subject[] = [
      { ...ownSubject("cattail, agent", folder, { file, socket }), agent: agentPid },
      ...(flags.binary === undefined
        ? []
        : [{ ...ownSubject("cattail, executable", folder, { file: flags.binary, socket }), agent: agentPid }]),
      ownSubject("cattail, alone", folder, { file, socket: "" }),
      ...(flags.against === undefined ? [] : [originalSubject(folder, flags.against)]),
      ...(typeof floor === "string" ? [] : [floor]),
    ];
    if (typeof floor === "string") console.log(`no floor: ${floor}`);
    const asked = subjects.filter(({ who }) => new RegExp(flags.only ?? "").test(who));
    await compare({ cluster, subjects: asked, rounds, many, paths });
  } finally {
    for (const name of namespaces) deleteNamespace(name);
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit(); // connections that are kept open have no end of their own
}

type Stage = {
  readonly cluster: Cluster;
  readonly subjects: readonly Subject[];
  readonly rounds: number;
  readonly many: number;
  readonly paths: readonly string[];
};

async function compare({ cluster, subjects, rounds, many, paths }: Stage): Promise<void> {
  const run = await openRuntime();
  const call = (command: Call["command"], container: string, at: number): Call => ({
    command,
    container,
    pod: `p${at}`,
    netns: paths[at] ?? "",
  });
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
  const one = new Map<Subject, Took>(subjects.map((subject) => [subject, { ADD: [], DEL: [] }]));
  for (const subject of subjects) {
    for (const command of ["ADD", "DEL"] as const) await run(subject, [call(command, `${slug(subject)}-warm`, 0)], 1);
  }
  const agentCpu = new Map<Subject, number>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, took] of one) {
      const before = cpuMsOf(subject.agent);
      for (const command of ["ADD", "DEL"] as const) {
        const { results } = await run(subject, [call(command, `${slug(subject)}-${round}`, round % atOnce)], 1);
        took[command].push(...results);
      }
      agentCpu.set(subject, (agentCpu.get(subject) ?? 0) + cpuMsOf(subject.agent) - before);
    }
  }
  for (const [subject, took] of one) {
    const rates: { [command: string]: number } = {};
    const requests: { [command: string]: number } = {};
    for (const command of ["ADD", "DEL"] as const) {
      const calls = Array.from({ length: many }, (_, at) => call(command, `${slug(subject)}-many-${at}`, at));
      rates[command] = (1000 * many) / (await run(subject, calls, atOnce)).ms;
    }
    for (const command of ["ADD", "DEL"] as const) {
      const before = await requestsOf(cluster);
      for (let at = 0; at < 5; at += 1) await run(subject, [call(command, `${slug(subject)}-count-${at}`, at)], 1);
      requests[command] = ((await requestsOf(cluster)) - before) / 5;
    }
    print(subject, took, { rates, requests, agentCpuMs: (agentCpu.get(subject) ?? 0) / (2 * rounds) });
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
}

type Rest = {
  readonly rates: { readonly [command: string]: number };
  readonly requests: { readonly [command: string]: number };
  readonly agentCpuMs: number;
};

function print({ who }: Subject, took: Took, { rates, requests, agentCpuMs }: Rest): void {
  const figures: { [name: string]: number } = { agentCpuMs };
  for (const command of ["ADD", "DEL"] as const) {
    const results = took[command];
    const name = command.toLowerCase();
    figures[`${name}P50Ms`] = quantile(
      results.map(({ ms }) => ms),
      0.5,
    );
    figures[`${name}P99Ms`] = quantile(
      results.map(({ ms }) => ms),
      0.99,
    );
    figures[`${name}CpuMs`] = quantile(
      results.map(({ cpuMs }) => cpuMs),
      0.5,
    );
    figures[`${name}Requests`] = requests[command] ?? Number.NaN;
    figures[`${name}sPerSecond`] = rates[command] ?? Number.NaN;
  }
  figures.peakMb = Math.max(...[...took.ADD, ...took.DEL].map(({ peakKb }) => peakKb)) / 1024;
  const said = (["add", "del"] as const).map((name) => {
    const figure = (of: string, digits = 0) => (figures[`${name}${of}`] ?? Number.NaN).toFixed(digits);
    return `${name.toUpperCase()} p50 ${figure("P50Ms")} ms, p99 ${figure("P99Ms")}, CPU ${figure("CpuMs")} ms, ${figure("Requests", 1)} requests, ${atOnce} at a time ${figure("sPerSecond", 1)}/s`;
  });
  const agent = agentCpuMs > 0 ? `; agent's CPU ${agentCpuMs.toFixed(1)} ms a call` : "";
  console.log(`${who.padEnd(20)} ${said.join("; ")}; peak ${figures.peakMb.toFixed(0)} MB${agent}`);
  record({ of: who, figures });
}

function quantile(values: readonly number[], of: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? Number.NaN;
}

/** User and system time; 0: there is no such process. */
function cpuMsOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // ticks of 10 ms
}

function slug({ who }: Subject): string {
  return who.replaceAll(/[^a-z]+/g, "-");
}

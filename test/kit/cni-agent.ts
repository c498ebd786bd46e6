// The agent's part for the CNI plugins in a process of its own, in a network namespace that is a node: what tests kill, and what bench/cni measures.
//   startCniAgent({ namespace, socket, node, datastore }) resolves when plugins are answered
// Started as a program it is that process.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Log, systemClock } from "../../src/base/lib/index.ts";
import { inNamespace } from "../../src/base/linux/kernel.ts";
import { createMetrics } from "../../src/base/observe/index.ts";
import { type DatastoreOptions, openDatastore } from "../../src/calico/datastore/index.ts";
import { cniPart } from "../../src/node/cni/index.ts";
import type { PartWorld } from "../../src/node/part/index.ts";

export type CniAgentOptions = {
  readonly namespace: string;
  readonly socket: string;
  readonly node: string;
  readonly datastore: DatastoreOptions;
};

export type CniAgent = AsyncDisposable & {
  readonly process: ChildProcess;
  /** What it has said so far. */
  readonly said: () => string;
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
};

/** Warm: everything is watched, so that calls cost what they cost later. */
export async function startCniAgent(options: CniAgentOptions): Promise<CniAgent> {
  // CATTAIL_CNI_AGENT_FLAGS="--cpu-prof --cpu-prof-dir=DIR" shows where its time goes.
  const flags = (process.env.CATTAIL_CNI_AGENT_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
  const words = [...flags, fileURLToPath(import.meta.url), JSON.stringify(options)];
  const child = inNamespace(options.namespace, () =>
    spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] }),
  );
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const exited = once(child, "exit");
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  while (!said.includes("warm\n")) {
    const ended = await Promise.race([exited.then(() => true), once(child.stdout ?? child, "data").then(() => false)]);
    if (ended) throw new Error(`the agent ended: ${said}`);
  }
  return { process: child, said: () => said, stop, [Symbol.asyncDispose]: () => stop("SIGTERM") };
}

async function main(given: CniAgentOptions): Promise<void> {
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  const say = (level: string) => (event: string, fields?: object) =>
    void process.stdout.write(`${level} ${event} ${JSON.stringify(fields ?? {})}\n`);
  const log: Log = { debug: () => undefined, info: say("info"), warn: say("warn"), error: say("error") };
  await using datastore = await openDatastore(given.datastore, { clock: systemClock, log });
  let isWarm = false;
  const world: PartWorld = {
    node: given.node,
    log,
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === 5_000 && !isWarm ? 50 : ms, signal) },
    metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
    health: {
      report({ detail }) {
        if (detail === "" && !isWarm) process.stdout.write("warm\n");
        isWarm ||= detail === "";
      },
    },
    feed: {
      follow() {
        throw new Error("plugins need no feed");
      },
    },
    settings: { raw: () => undefined, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    datastore: async () => datastore,
  };
  await cniPart({ socket: given.socket, version: "v0" }).run(world, stop.signal);
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "{}") as CniAgentOptions); // written above

// The agents that are measured, each a process that follows the same Typha, and what it costs.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../test/kit/cluster.ts";

type Around = { readonly cluster: Cluster; readonly typhaPort: number };
export type Subject = { readonly name: string; readonly command: readonly string[] };

const ticksPerSecond = 100;

export class Agent {
  readonly #subject: Subject;
  readonly #around: Around;
  #child: ChildProcess | undefined;

  constructor(subject: Subject, around: Around) {
    this.#subject = subject;
    this.#around = around;
  }

  get name(): string {
    return this.#subject.name;
  }

  /** Milliseconds from its start until it says that it is ready. */
  async start(limitMs = 120_000): Promise<number> {
    const [program = "", ...args] = this.#subject.command;
    const log = openSync(join(tmpdir(), `bench-policy-${this.name}.log`), "a");
    const startedMs = performance.now();
    this.#child = spawn(program, args, { stdio: ["ignore", log, log], env: this.#environment() });
    closeSync(log);
    while (!(await isReady())) {
      if (performance.now() - startedMs > limitMs) throw new Error(`${this.name} is not ready within ${limitMs} ms`);
      await sleep(5);
    }
    return performance.now() - startedMs;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  /** Its rules go, as on a machine that has just booted. */
  forget(): void {
    spawnSync("nft", ["flush", "ruleset"]);
  }

  get cpuSeconds(): number {
    const text = readFileSync(`/proc/${this.#pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // Its own and those of programs that it has waited for, in user and kernel mode.
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
  }

  get rssMiB(): number {
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1_024;
  }

  get #pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`${this.name} does not run`);
    return this.#child.pid;
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      KUBECONFIG: this.#around.cluster.kubeconfig,
      FELIX_DATASTORETYPE: "kubernetes",
      FELIX_FELIXHOSTNAME: "node-a",
      NODENAME: "node-a",
      CALICO_NODENAME: "node-a",
      FELIX_TYPHAADDR: `127.0.0.1:${this.#around.typhaPort}`,
      FELIX_NFTABLESMODE: "Enabled",
      FELIX_LOGFILEPATH: "none",
      FELIX_LOGSEVERITYFILE: "none",
      FELIX_LOGSEVERITYSYS: "none",
      FELIX_LOGSEVERITYSCREEN: "Warning",
      FELIX_HEALTHENABLED: "true",
      FELIX_HEALTHHOST: "127.0.0.1",
      FELIX_HEALTHPORT: "9099",
      FELIX_USAGEREPORTINGENABLED: "false",
      FELIX_DEFAULTENDPOINTTOHOSTACTION: "Accept",
      // A build of the original without libbpf ends itself where it looks for what its other dataplane left.
      FELIX_DebugSkipCTLBCleanup: "true",
    };
  }
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch("http://127.0.0.1:9099/readiness")).status === 200;
  } catch {
    return false; // does not listen yet
  }
}

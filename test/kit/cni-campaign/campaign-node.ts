// One node of the campaign: a network namespace, a way to the API server that can fail, the plugin as a runtime starts it, and (or not) the agent
// that answers for it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inNamespace } from "../../../src/base/linux/kernel.ts";
import type { Cluster } from "../cluster.ts";
import { type CniAgent, startCniAgent } from "../cni-agent.ts";
import { freshNamespace } from "../namespace.ts";
import type { KillMoment, Mishap } from "./choices.ts";
import { type FaultProxy, openFaultProxy } from "./fault-proxy.ts";

export type Sandbox = { readonly container: string; readonly netns: string; readonly pod: string };
export type CalledAs = {
  readonly command: "ADD" | "DEL" | "CHECK";
  readonly sandbox: Sandbox;
  readonly netns?: string;
};
export type Answered = {
  /** Null: it was killed. */
  readonly code: number | null;
  readonly said: { readonly [name: string]: unknown };
  readonly text: string;
};

export type NodeOptions = {
  readonly name: string;
  readonly folder: string;
  readonly cluster: Cluster;
  readonly kubeconfig: string;
  readonly port: number;
  readonly token: string;
  readonly isResident: boolean;
  readonly families: "4" | "46";
  readonly plugins?: string | undefined;
};

export type Counts = {
  calls: number;
  pluginsKilled: number;
  agentsKilled: number;
  apiFaults: number;
};

export class CampaignNode implements AsyncDisposable {
  readonly name: string;
  readonly namespace: { readonly name: string; readonly path: string };
  readonly counts: Counts = { calls: 0, pluginsKilled: 0, agentsKilled: 0, apiFaults: 0 };
  readonly #options: NodeOptions;
  readonly #proxy: FaultProxy;
  readonly #plugins: string;
  readonly #configuration: string;
  #agent: CniAgent | undefined;
  /** How long calls take here, for kills by time. */
  #usualMs = 300;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.namespace = freshNamespace();
    execFileSync("ip", ["-n", this.namespace.name, "link", "set", "lo", "up"]);
    const { cluster, port, token, folder } = options;
    this.#proxy = openFaultProxy(cluster, { namespace: this.namespace.path, port, token });
    mkdirSync(folder, { recursive: true });
    this.#plugins = options.plugins ?? join(folder, "bin");
    if (options.plugins === undefined) linkPlugins(this.#plugins);
    this.#configuration = JSON.stringify({
      cniVersion: "1.0.0",
      name: "campaign",
      type: "calico",
      datastore_type: "kubernetes",
      kubernetes: { kubeconfig: options.kubeconfig },
      nodename: options.name,
      nodename_file_optional: true,
      ipam_lock_file: join(folder, "ipam.lock"),
      mtu: 1450,
      ipam: { type: "calico-ipam", assign_ipv4: "true", assign_ipv6: String(options.families === "46") },
      policy: { type: "k8s" },
    });
  }

  get hasAgent(): boolean {
    return this.#agent !== undefined;
  }

  async startAgent(): Promise<void> {
    const { isResident, kubeconfig, name } = this.#options;
    if (!isResident || this.#agent !== undefined) return;
    const datastore = { type: "kubernetes", kubeconfig } as const;
    this.#agent = await startCniAgent({ namespace: this.namespace.path, socket: this.#socket, node: name, datastore });
  }

  async stopAgent(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.stop(signal);
  }

  async call(called: CalledAs, mishap: Mishap = { is: "none" }): Promise<Answered> {
    this.counts.calls += 1;
    const startedMs = performance.now();
    const plugin = this.#start(called);
    const killing = this.#prepare(mishap, plugin.child);
    const answered = await plugin.ended;
    killing.end();
    if (answered.code === 0) this.#usualMs = 0.8 * this.#usualMs + 0.2 * (performance.now() - startedMs);
    if (this.#proxy.disarm() === false && mishap.is === "api") this.counts.apiFaults += 1;
    // One that was killed is gone, or about to be: who comes next must find nobody there.
    if (this.#isAgentKilled) await this.stopAgent("SIGKILL");
    this.#isAgentKilled = false;
    return answered;
  }

  #isAgentKilled = false;

  #prepare(mishap: Mishap, child: ChildProcess): { end(): void } {
    if (mishap.is === "none") return { end: () => undefined };
    if (mishap.is === "api") {
      const { how, nth } = mishap;
      const status = Number(how) as 403 | 500 | 503; // of the three that are numbers
      this.#proxy.arm(nth, how === "cut" || how === "lose" ? { is: how } : { is: "refuse", status });
      return { end: () => undefined };
    }
    const act = () => this.#kill(mishap.whom, child);
    return this.#armKill(mishap.when, act);
  }

  #armKill(when: KillMoment, act: () => void): { end(): void } {
    if (when.at === "request") {
      this.#proxy.arm(when.nth, { is: when.side, act });
      return { end: () => undefined };
    }
    const timer = setTimeout(act, when.share * this.#usualMs);
    return { end: () => clearTimeout(timer) };
  }

  /** Without an agent there is the plugin to be killed. */
  #kill(whom: "plugin" | "agent" | "both", child: ChildProcess): void {
    const agent = this.#agent?.process;
    if (whom !== "plugin" && agent !== undefined && !this.#isAgentKilled) {
      this.counts.agentsKilled += 1;
      this.#isAgentKilled = true;
      agent.kill("SIGKILL");
    }
    if (whom !== "agent" || agent === undefined) {
      if (child.exitCode === null && child.signalCode === null) this.counts.pluginsKilled += 1;
      killGroup(child);
    }
  }

  #start({ command, sandbox, netns }: CalledAs): { child: ChildProcess; ended: Promise<Answered> } {
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
      CNI_COMMAND: command,
      CNI_CONTAINERID: sandbox.container,
      CNI_NETNS: netns ?? sandbox.netns,
      CNI_IFNAME: "eth0",
      CNI_PATH: this.#plugins,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${sandbox.pod};K8S_POD_INFRA_CONTAINER_ID=${sandbox.container}`,
      CATTAIL_CNI_SOCKET: this.#socket,
    };
    const child = inNamespace(this.namespace.path, () =>
      spawn(join(this.#plugins, "calico"), [], { stdio: ["pipe", "pipe", "pipe"], env, detached: true }),
    );
    child.stdin.on("error", () => undefined); // it may be killed before it reads
    child.stdin.end(this.#configuration);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk));
    const ended = new Promise<Answered>((done, reject) => {
      child.on("error", reject);
      child.on("close", (code) => done({ code, said: parsed(stdout), text: `${stdout}${stderr}`.trim() }));
    });
    return { child, ended };
  }

  get #socket(): string {
    return join(this.#options.folder, "run", "cni.sock");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopAgent("SIGKILL");
    this.#proxy[Symbol.dispose]();
    await sleep(0);
  }
}

function linkPlugins(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cni-plugin.cjs"), join(folder, name));
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has ended by itself
  }
}

function parsed(stdout: string): Answered["said"] {
  try {
    return JSON.parse(["", "OK\n"].includes(stdout) ? "{}" : stdout) as Answered["said"]; // what a plugin says is an object
  } catch {
    return {}; // killed in the middle of a word
  }
}

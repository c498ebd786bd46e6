// What a case is played on: nodes and pods as network namespaces, and for each node a folder that stands for /var/lib/calico and
// /var/run/calico while a plugin runs, so that nodes share no lock and no name, and this machine's own folders stay as they are.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { deleteNamespace } from "../../../src/base/linux/kernel.ts";
import { eventually } from "../eventually.ts";
import { freshNamespace } from "../namespace.ts";
import { openDoor } from "./door.ts";

export type Namespace = { readonly name: string; readonly path: string };
export type StagedCall = {
  readonly node: string;
  readonly program: string;
  readonly args?: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly stdin: string;
  readonly limitMs?: number;
};
export type StagedAnswer = {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Where plugins look for it. */
const agentSocket = "/var/run/calico/cattail/cni.sock";
const folders = { lib: "/var/lib/calico", run: "/var/run/calico" } as const;

export class Stage implements Disposable {
  readonly folder: string;
  readonly #ports: () => readonly number[];
  readonly #nodes = new Map<string, Namespace>();
  readonly #pods = new Map<string, Namespace>();
  /** Agents, of those nodes that have one. */
  readonly #agents = new Map<string, Started>();
  #doors = new DisposableStack();

  /** `ports`: of servers on this machine's loopback that nodes must reach. */
  constructor(folder: string, ports: () => readonly number[]) {
    this.folder = folder;
    this.#ports = ports;
    for (const path of Object.values(folders)) mkdirSync(path, { recursive: true });
  }

  get nodes(): ReadonlyMap<string, Namespace> {
    return this.#nodes;
  }

  get pods(): ReadonlyMap<string, Namespace> {
    return this.#pods;
  }

  node(name: string): Namespace {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const made = freshNamespace();
    this.#nodes.set(name, made);
    lo(made);
    for (const port of this.#ports()) this.#doors.use(openDoor(made.path, port));
    return made;
  }

  pod(label: string): Namespace {
    const known = this.#pods.get(label);
    if (known !== undefined) return known;
    const made = freshNamespace();
    this.#pods.set(label, made);
    lo(made);
    return made;
  }

  /** The pod's namespace is gone; what is left of it is known by name still. */
  unplug(label: string): void {
    deleteNamespace(this.pod(label).name);
  }

  isThere(label: string): boolean {
    const known = this.#pods.get(label);
    return known !== undefined && existsSync(known.path);
  }

  /** As if it had never been there. */
  forgetPod(label: string): void {
    const known = this.#pods.get(label);
    if (known !== undefined) deleteNamespace(known.name);
    this.#pods.delete(label);
  }

  nodeFolder(node: string): string {
    return join(this.folder, "nodes", node);
  }

  /** `nodename` false: no such file. */
  writeNodeFiles(node: string, says: { nodename?: string | false | undefined; mtu?: string | number | undefined }) {
    const folder = this.nodeFolder(node);
    for (const part of ["lib", "run", "log"]) mkdirSync(join(folder, part), { recursive: true });
    if (says.nodename !== false) writeFileSync(join(folder, "lib", "nodename"), says.nodename ?? node);
    if (says.mtu !== undefined) writeFileSync(join(folder, "lib", "mtu"), String(says.mtu));
  }

  /** A program on a node, with the node's folders in their places. It is a process group of its own. */
  start({ node, program, args = [], env, stdin }: StagedCall): Started {
    this.#writeFilesIfNone(node);
    const folder = this.nodeFolder(node);
    const script = `mount --bind "$1" ${folders.lib} && mount --bind "$2" ${folders.run} && shift 2 && exec nsenter "$@"`;
    const words = [
      "-m",
      // What is mounted later is seen, pods' namespaces above all; what is mounted here is not seen outside.
      "--propagation",
      "slave",
      "sh",
      "-c",
      script,
      "sh",
      join(folder, "lib"),
      join(folder, "run"),
    ];
    const child = spawn("unshare", [...words, `--net=${this.node(node).path}`, program, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`, ...env },
      detached: true,
    });
    return new Started(child, stdin);
  }

  async call(call: StagedCall): Promise<StagedAnswer> {
    const started = this.start(call);
    const timer = setTimeout(() => started.kill(), call.limitMs ?? 120_000);
    try {
      return await started.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** One that answers for the plugins on this node, if it has none yet. */
  async startAgent(node: string, datastore: object): Promise<void> {
    if (this.#agents.has(node)) return;
    const given = { namespace: this.node(node).path, socket: agentSocket, node, datastore };
    const args = [resolve("test/kit/cni-agent.ts"), JSON.stringify(given)];
    const agent = this.start({ node, program: process.execPath, args, env: {}, stdin: "" });
    this.#agents.set(node, agent);
    await eventually(
      () => agent.said.includes("warm\n") || agent.process.exitCode !== null,
      () => `an agent that is ready: ${agent.said}`,
    );
    if (agent.process.exitCode !== null) throw new Error(`the agent ended: ${agent.said}`);
  }

  get agentPids(): readonly (number | undefined)[] {
    return [...this.#agents.values()].map(({ process: { pid } }) => pid);
  }

  /** Log files that were written, and whether they hold anything. */
  logs(): { [file: string]: boolean } {
    const found = [...this.#nodes.keys()].flatMap((node) => filesBelow(join(this.nodeFolder(node), "log")));
    const named = found.map((file) => [relative(join(this.folder, "nodes"), file), statSync(file).size > 0] as const);
    return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  clear(): void {
    for (const agent of this.#agents.values()) agent.kill();
    this.#agents.clear();
    this.#doors.dispose();
    this.#doors = new DisposableStack();
    for (const { name } of [...this.#pods.values(), ...this.#nodes.values()]) deleteNamespace(name);
    this.#nodes.clear();
    this.#pods.clear();
    rmSync(join(this.folder, "nodes"), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  #writeFilesIfNone(node: string): void {
    if (!existsSync(this.nodeFolder(node))) this.writeNodeFiles(node, {});
  }
}

export class Started {
  readonly process: ChildProcess;
  readonly ended: Promise<StagedAnswer>;
  /** So far, on both streams. */
  said = "";

  constructor(child: ChildProcess, stdin: string) {
    this.process = child;
    let [stdout, stderr] = ["", ""];
    child.stdin?.on("error", () => undefined); // it may end without having read it
    child.stdin?.end(stdin);
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk;
      this.said += chunk;
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk;
      this.said += chunk;
    });
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    });
  }

  /** With what it has started. */
  kill(): void {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has ended by itself
    }
  }
}

function lo({ name }: Namespace): void {
  execFileSync("ip", ["-n", name, "link", "set", "lo", "up"]);
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
}

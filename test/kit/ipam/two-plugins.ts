// Two IPAM plugins on one datastore at the same time: workers call ADD and DEL through one or the other, chosen at random, for several
// nodes; some calls are killed. Then an audit looks at what they left.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../random.ts";
import { LiveAddresses, nodeNames } from "./assignments.ts";

export const network = "k8s-pod-network";

export type Plugins = {
  /** The original's program; it is called through a link named calico-ipam. */
  readonly original: string;
  readonly ours: string;
};

export type TwoPluginsPlan = {
  readonly calls: number;
  readonly workers: number;
  readonly nodes: number;
  readonly named: number;
  readonly kills: number;
  readonly pool: { readonly cidr: string; readonly blockSize: number; readonly firstAddress: string };
  /** What the network configuration says about the datastore. */
  readonly datastore: object;
  readonly random: Random;
};

export type TwoPluginsDone = {
  byOriginal: number;
  byOurs: number;
  added: number;
  deleted: number;
  killed: number;
  readonly refused: Map<string, number>;
  seconds: number;
};

type Container = { readonly id: string; readonly node: string; readonly addresses: readonly string[] };
type Called =
  | { readonly is: "answered"; readonly code: number | null; readonly stdout: string }
  | { readonly is: "killed" };

export class TwoPlugins implements Disposable {
  readonly live = new LiveAddresses();
  readonly done: TwoPluginsDone = {
    byOriginal: 0,
    byOurs: 0,
    added: 0,
    deleted: 0,
    killed: 0,
    refused: new Map(),
    seconds: 0,
  };
  readonly #plan: TwoPluginsPlan;
  readonly #folder = mkdtempSync(join(tmpdir(), "cattail-two-plugins-"));
  readonly #containers: Container[] = [];
  /** Nobody knows what these hold: their last call was killed, or refused. */
  readonly #unsure: Container[] = [];
  #made = 0;

  constructor(plugins: Plugins, plan: TwoPluginsPlan) {
    this.#plan = plan;
    for (const [name, program] of Object.entries(plugins)) {
      mkdirSync(join(this.#folder, name));
      symlinkSync(program, join(this.#folder, name, "calico-ipam"));
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async run(): Promise<void> {
    const startedMs = performance.now();
    let left = this.#plan.calls;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        await this.#request();
      }
    };
    await Promise.all(Array.from({ length: this.#plan.workers }, work));
    this.done.seconds = (performance.now() - startedMs) / 1000;
  }

  /** DELs everything, also what nobody knows to hold anything: after that nothing may be left. */
  async deleteAll(): Promise<void> {
    const all = [...this.#containers.splice(0), ...this.#unsure.splice(0)];
    const work = async () => {
      for (let container = all.pop(); container !== undefined; container = all.pop()) {
        this.live.takeBack(handled(container));
        const called = await this.#call("DEL", container, {});
        if (called.is === "answered" && called.code !== 0) throw new Error(`DEL ${container.id}: ${called.stdout}`);
      }
    };
    await Promise.all(Array.from({ length: this.#plan.workers }, work));
  }

  async #request(): Promise<void> {
    const { random, kills } = this.#plan;
    const killAfterMs = random.next() < kills ? random.below(600) : undefined;
    if (this.#containers.length > 0 && random.next() < 0.45) await this.#delete(killAfterMs);
    else await this.#add(killAfterMs);
  }

  async #add(killAfterMs: number | undefined): Promise<void> {
    const { random, nodes, named } = this.#plan;
    this.#made += 1;
    const id = `c${this.#made}`;
    const container = { id, node: random.pick(nodeNames(nodes)), addresses: [] };
    this.live.starting.add(`p-${id}`);
    const args = random.next() < named ? `;IP=${this.#anyAddress()}` : "";
    const called = await this.#call("ADD", container, { killAfterMs, args });
    this.live.starting.delete(`p-${id}`);
    if (called.is === "killed") {
      this.#unsure.push(container);
      return;
    }
    if (called.code !== 0) {
      const says = (/"msg":"([^"]*)"/.exec(called.stdout)?.[1] ?? called.stdout).slice(0, 90).replace(/[0-9]/g, "#");
      this.done.refused.set(says, (this.done.refused.get(says) ?? 0) + 1);
      this.#unsure.push(container);
      return;
    }
    const addresses = [...called.stdout.matchAll(/"address":\s*"([^"/]+)/g)].map(([, address = ""]) => address);
    const given = { ...container, addresses };
    this.live.give({ ...handled(given), addresses });
    this.#containers.push(given);
    this.done.added += 1;
  }

  async #delete(killAfterMs: number | undefined): Promise<void> {
    const [container] = this.#containers.splice(this.#plan.random.below(this.#containers.length), 1);
    if (container === undefined) return;
    this.live.takeBack(handled(container));
    const called = await this.#call("DEL", container, { killAfterMs });
    if (called.is === "killed" || called.code !== 0) this.#unsure.push(container);
    else this.done.deleted += 1;
  }

  #anyAddress(): string {
    const { firstAddress } = this.#plan.pool;
    return firstAddress.replace(/\d+$/, (last) => String(Number(last) + this.#plan.random.below(128)));
  }

  async #call(
    command: string,
    { id, node }: Container,
    { killAfterMs, args = "" }: { killAfterMs?: number | undefined; args?: string },
  ): Promise<Called> {
    const isOurs = this.#plan.random.isOneIn(2);
    this.done[isOurs ? "byOurs" : "byOriginal"] += 1;
    const conf = {
      cniVersion: "1.0.0",
      name: network,
      type: "calico",
      nodename: node,
      log_level: "error",
      ipam: { type: "calico-ipam" },
      ipam_lock_file: join(this.#folder, `${node}.lock`),
      ...this.#plan.datastore,
    };
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      CNI_COMMAND: command,
      CNI_CONTAINERID: id,
      CNI_NETNS: "/var/run/netns/none",
      CNI_IFNAME: "eth0",
      CNI_PATH: this.#folder,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p-${id}${args}`,
    };
    const child = spawn(join(this.#folder, isOurs ? "ours" : "original", "calico-ipam"), [], {
      env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(conf));
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += String(chunk);
    });
    const { promise: ended, resolve } = Promise.withResolvers<Called>();
    child.on("close", (code, signal) =>
      resolve(signal === "SIGKILL" ? { is: "killed" } : { is: "answered", code, stdout }),
    );
    if (killAfterMs !== undefined) {
      await Promise.race([sleep(killAfterMs), ended]);
      if (child.kill("SIGKILL")) this.done.killed += 1;
    }
    return await ended;
  }
}

function handled({ id, node, addresses }: Container) {
  return { handle: `${network}.${id}`, pod: `p-${id}`, node, addresses };
}

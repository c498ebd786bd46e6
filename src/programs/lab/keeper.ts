// The process that holds a lab: the first one of its own namespaces, so that everything ends with it. It builds the cluster, tells `lab up` how
// that goes, and then answers the other commands over a socket.
//
//   lab up ──unshare──▶ keeper ─▶ world, datastore, Typha, agents, pods
//     ◀── lines of JSON: {"says"}, {"ready"}, {"failed"} ──┘        ◀── lab.sock ── lab ping, pod, break, mend, doctor, status
import { closeSync, mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CattailError, isRecord, type JsonRecord, messageOf } from "../../base/lib/index.ts";
import { answerCalls } from "../../base/linux/index.ts";
import { breakageNamed } from "./breakages/index.ts";
import type { GivenDatastore } from "./cluster/given-datastore.ts";
import { dashboardPort, Lab } from "./cluster/lab.ts";
import { launcher } from "./cluster/launcher.ts";
import { rowOf } from "./matrix-table.ts";
import { startRelay } from "./relay.ts";
import { type LabMode, socketOf } from "./state.ts";
import type { LabNode } from "./world/index.ts";

export type KeeperOptions = {
  readonly folder: string;
  readonly nodes: number;
  readonly mode: LabMode;
  readonly given: GivenDatastore;
  /** Descriptors that `lab up` has left: the dashboard's listening socket, and where to say how it goes. */
  readonly dashboardFd: number;
  readonly progressFd: number;
};

const wholeLimitMs = 30_000;

export async function keepLab(options: KeeperOptions): Promise<void> {
  const { folder, progressFd, given } = options;
  const tell = (message: JsonRecord) => {
    try {
      writeSync(progressFd, `${JSON.stringify(message)}\n`);
    } catch {
      // Nobody waits for it any more.
    }
  };
  // The first process of a namespace hears a signal only if it listens for it.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
  try {
    let say = (line: string): void => tell({ says: line });
    if (given.inside.datastore.type === "directory")
      mkdirSync(given.inside.datastore.path, { recursive: true, mode: 0o700 });
    if (given.relay !== undefined) {
      const { socket, port } = given.relay;
      await startRelay({ host: "127.0.0.1", port }, { path: socket });
    }
    const lab = await Lab.start({ ...options, ...given.inside, ...relayOf(given), say: (line) => say(line) }, true);
    await startRelay({ fd: options.dashboardFd }, { host: "127.0.0.1", port: dashboardPort });
    await lab.addFirstPods();
    const rows = (await lab.pingUntilWhole(wholeLimitMs)).map(rowOf);
    const keeper = new Keeper(lab);
    await answerCalls({
      path: socketOf(folder),
      answer: ({ call, body }) => keeper.answer(call, body),
      answerLimitMs: 180_000,
    });
    say = (line) => void process.stdout.write(`${line}\n`);
    tell({ ready: { rows } });
    closeSync(progressFd);
  } catch (error) {
    tell({ failed: saidError(error) });
    process.stdout.write(`${error instanceof Error ? error.stack : messageOf(error)}\n`);
    process.exit(1);
  }
  await new Promise(() => setInterval(() => undefined, 1 << 30)); // until somebody ends it
}

function relayOf({ relay }: GivenDatastore) {
  return relay === undefined ? {} : { relay: { port: relay.port, socket: relay.socket } };
}

function saidError(error: unknown): JsonRecord {
  const { code, problem, next } =
    error instanceof CattailError
      ? error
      : new CattailError("LAB_FAILED", { problem: messageOf(error), next: "The keeper's log has the whole of it" });
  return { code, problem, next };
}

class Keeper {
  readonly #lab: Lab;
  readonly #broken: string[] = [];

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  async answer(call: string, given: unknown): Promise<unknown> {
    const body = isRecord(given) ? given : {};
    const name = String(body.name ?? "");
    switch (call) {
      case "ping":
        return { rows: (await this.#lab.ping()).map(rowOf) };
      case "pod add":
        return { address: await this.#addPod(name, body) };
      case "pod rm":
        await this.#lab.pods.remove(name);
        return {};
      case "break":
        return await this.#break(name);
      case "mend":
        return await this.#mend(name);
      case "doctor":
        return await this.#doctor(body);
      case "status":
        return { ...this.#lab.status(), broken: this.#broken };
      default:
        throw new CattailError("LAB_CALL", {
          problem: `the lab does not know ${call}`,
          next: "Start it anew with this release",
        });
    }
  }

  async #addPod(name: string, { node, pool }: JsonRecord): Promise<string> {
    const there = typeof node === "string" ? node : (this.#lab.world.nodes.at(-1)?.name ?? "");
    const annotations =
      typeof pool === "string" ? { annotations: { "cni.projectcalico.org/ipv4pools": JSON.stringify([pool]) } } : {};
    return await this.#lab.addPod({ name, node: there, ...annotations });
  }

  async #break(name: string): Promise<unknown> {
    const { modes, make, code, says } = breakageNamed(name);
    const { mode } = this.#lab.options;
    if (modes !== undefined && !modes.includes(mode))
      throw new CattailError("LAB_BREAK", {
        problem: `${name} cannot be broken in a lab of the mode ${mode}`,
        next: `cattail lab down, then cattail lab up --mode ${modes[0]}`,
      });
    if (this.#broken.includes(name))
      throw new CattailError("LAB_BREAK", { problem: `${name} is broken already`, next: `cattail lab mend ${name}` });
    await make(this.#lab);
    this.#broken.push(name);
    return { code, says };
  }

  async #mend(name: string): Promise<unknown> {
    const { mend } = breakageNamed(name);
    if (!this.#broken.includes(name))
      throw new CattailError("LAB_BREAK", {
        problem: `${name} is not broken`,
        next: this.#broken.length === 0 ? "Nothing is" : `Broken: ${this.#broken.join(", ")}`,
      });
    await mend(this.#lab);
    this.#broken.splice(this.#broken.indexOf(name), 1);
    return {};
  }

  /** The doctor on every node; the first one looks at what the others have seen, too. With two ends: at the way between them. */
  async #doctor({ output, from, to }: JsonRecord): Promise<unknown> {
    const { world, options } = this.#lab;
    const [first, ...others] = world.nodes;
    if (first === undefined) return { code: 2, stdout: "" };
    const run = (node: LabNode, args: readonly string[]) => {
      const [program = "", ...words] = [...launcher().words, "doctor", ...args];
      return node.run(program, words, { env: this.#lab.agentEnvironment(node), alsoGood: [1, 2], limitMs: 120_000 });
    };
    const files = await Promise.all(
      others.map(async (node) => {
        const file = join(options.folder, "nodes", `${node.name}.facts.json`);
        const { stdout, stderr, code } = await run(node, ["node", "-o", "facts"]);
        if (code !== 0) throw doctorFailed(node.name, stderr);
        writeFileSync(file, stdout, { mode: 0o600 });
        return file;
      }),
    );
    const asked = typeof from === "string" && typeof to === "string" ? ["path", from, to] : ["node"];
    const format = ["-o", output === "json" ? "json" : "text"];
    const { code, stdout, stderr } = await run(first, [
      ...asked,
      ...format,
      ...files.flatMap((file) => ["--facts", file]),
    ]);
    return { code, stdout, stderr };
  }
}

function doctorFailed(node: string, words: string): CattailError {
  return new CattailError("LAB_DOCTOR", {
    problem: `the doctor on ${node} failed: ${words.trim()}`,
    next: `Run it by hand: cattail lab exec ${node} cattail doctor node`,
  });
}

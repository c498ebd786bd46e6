// The process that holds a lab: the first one of its own namespaces, so that everything ends with it. It builds the cluster, tells `lab up` how
// that goes, and then answers the other commands over a socket.
//
//   lab up ──unshare──▶ keeper ─▶ world, datastore, Typha, agents, pods
//     ◀── lines of JSON: {"says"}, {"ready"}, {"failed"} ──┘        ◀── lab.sock ── lab ping, pod, break, mend, doctor, status
import { closeSync, existsSync, mkdirSync, writeSync } from "node:fs";
import { CattailError, isRecord, type JsonRecord, messageOf, systemClock } from "../../base/lib/index.ts";
import { answerCalls } from "../../base/linux/index.ts";
import { breakageNamed, wantsOf } from "./breakages/index.ts";
import type { GivenDatastore } from "./cluster/given-datastore.ts";
import { dashboardPort, Lab } from "./cluster/lab.ts";
import { labDoctor } from "./cluster/lab-doctor.ts";
import { rowOf } from "./matrix-table.ts";
import { startRelay } from "./relay.ts";
import { keeperLog, type LabMode, socketOf, stateFile } from "./state.ts";

export type KeeperOptions = {
  readonly folder: string;
  readonly nodes: number;
  readonly mode: LabMode;
  readonly isDualStack: boolean;
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
  await untilNoted(folder);
  try {
    let say = (line: string): void => tell({ says: line });
    if (given.inside.datastore.type === "directory")
      mkdirSync(given.inside.datastore.path, { recursive: true, mode: 0o700 });
    if (given.relay !== undefined) {
      const { socket, port } = given.relay;
      await untilThere(socket); // the way out, which another process opens
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
    tell({ failed: saidError(error, folder) });
    process.stdout.write(`${error instanceof Error ? error.stack : messageOf(error)}\n`);
    process.exit(1);
  }
  await new Promise(() => setInterval(() => undefined, 1 << 30)); // until somebody ends it
}

const noteLimitMs = 10_000;

/** A `lab up` that was killed before it noted who keeps the lab leaves one that nobody could end: then it does not begin. */
async function untilNoted(folder: string): Promise<void> {
  if (!(await untilThere(stateFile(folder)))) process.exit(1);
}

async function untilThere(file: string): Promise<boolean> {
  const endMs = performance.now() + noteLimitMs;
  while (!existsSync(file) && performance.now() < endMs) await systemClock.sleep(10);
  return existsSync(file);
}

function relayOf({ relay }: GivenDatastore) {
  return relay === undefined ? {} : { relay: { port: relay.port, socket: relay.socket } };
}

function saidError(error: unknown, folder: string): JsonRecord {
  const { code, problem, next } =
    error instanceof CattailError
      ? error
      : new CattailError("LAB_FAILED", { problem: messageOf(error), next: `${keeperLog(folder)} has the whole of it` });
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
        return await labDoctor(this.#lab, body);
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
    if (typeof pool !== "string") return await this.#lab.addPod({ name, node: there });
    return await this.#lab.addPod({ name, node: there, ...this.#lab.asking([pool]) });
  }

  async #break(name: string): Promise<unknown> {
    const breakage = breakageNamed(name);
    const { make, code, says } = breakage;
    const { mode, datastore } = this.#lab.options;
    const wants = wantsOf(breakage, { mode, isDualStack: this.#lab.isDualStack, datastore: datastore.type });
    if (wants !== undefined)
      throw new CattailError("LAB_BREAK", {
        problem: `${name} cannot be broken in this lab (mode ${mode}, ${this.#lab.isDualStack ? "IPv4 and IPv6" : "IPv4"}, datastore ${datastore.type})`,
        next: `cattail lab down, then cattail lab up ${wants}`,
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
}

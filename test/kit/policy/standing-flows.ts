// Flows that last: a connection that stays open between steps, and small flows one after another while something else happens.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProbedFlow } from "./flow.ts";
import type { PolicyLab } from "./lab.ts";
import { probe } from "./probe.ts";
import { RawSocket } from "./sockets.ts";

const lookEveryMs = 5;
/** On a machine with other work an answer may take long; one that is lost never comes. */
const lateAnswerMs = 3_000;

export class Held {
  readonly #socket: RawSocket;
  #heard = "";

  private constructor(socket: RawSocket) {
    this.#socket = socket;
  }

  static async open(flow: ProbedFlow, lab: PolicyLab): Promise<Held> {
    const { namespace, source, target } = lab.resolve(flow);
    const socket = RawSocket.open(namespace, flow.family, "stream").bind(source);
    socket.connect(target, flow.port);
    const held = new Held(socket);
    if (!(await held.#hears("\n", 5_000))) throw new Error(`${flow.text} cannot be opened`);
    return held;
  }

  /** Looked at as long as it is not what is wanted. */
  async check(patienceMs: number, wanted: string): Promise<"alive" | "cut"> {
    const token = `${randomBytes(4).toString("hex")}\n`;
    try {
      this.#heard = "";
      this.#socket.send(Buffer.from(token));
      return (await this.#hears(token, wanted === "alive" ? patienceMs : 500)) ? "alive" : "cut";
    } catch {
      return "cut"; // reset, which is one way to be cut
    }
  }

  close(): void {
    this.#socket.close();
  }

  async #hears(text: string, limitMs: number): Promise<boolean> {
    const endMs = performance.now() + limitMs;
    while (!this.#heard.includes(text)) {
      const got = this.#read();
      if (got !== undefined) this.#heard += got;
      else if (performance.now() > endMs) return false;
      else await sleep(lookEveryMs);
    }
    return true;
  }

  #read(): string | undefined {
    try {
      const got = this.#socket.receive();
      return got === undefined ? undefined : Buffer.from(got.bytes).toString();
    } catch (error) {
      // Not connected yet is no end.
      if (error instanceof Error && /ENOTCONN/.test(error.message)) return undefined;
      throw error;
    }
  }
}

/** Starts at once. */
export class During {
  readonly flow: ProbedFlow;
  allowed = 0;
  denied = 0;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(flow: ProbedFlow, lab: PolicyLab, timeoutMs: number, everyMs = 20) {
    this.flow = flow;
    this.#done = this.#run(lab, Math.max(lateAnswerMs, timeoutMs), everyMs);
  }

  async #run(lab: PolicyLab, timeoutMs: number, everyMs: number): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!this.#isOver) {
      const one = this.#try(lab, timeoutMs).finally(() => open.delete(one));
      open.add(one);
      await sleep(everyMs);
    }
    await Promise.all(open);
  }

  async #try(lab: PolicyLab, timeoutMs: number): Promise<void> {
    const got = await probe([this.flow], {
      ...{ resolve: lab.resolve, servers: lab.servers },
      timeoutMs,
      triesOnce: true,
    });
    if (got.get(this.flow.text)?.startsWith("allow") === true) this.allowed += 1;
    else this.denied += 1;
  }

  async verdict(): Promise<"always" | "never" | "mixed"> {
    this.#isOver = true;
    await this.#done;
    return this.denied === 0 ? "always" : this.allowed === 0 ? "never" : "mixed";
  }
}

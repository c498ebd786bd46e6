// The Go client of test/peers as a process: one connection or many, its events as they come, its counts at the end.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { goPeer } from "./go.ts";

export const goClient = await goPeer("test/peers/typha/client");
/** For `{ skip }` of tests that need the Go client. */
export const withoutGoClient: string | false = goClient.missing ?? false;

/** A key that tests set last: a client that has it has everything before it. */
export const lastKey = "/calico/v1/config/last-of-all";
export const untilLast = ["--until-key", lastKey, "--timeout", "300s"];

/** Names a state as the Go client does with --digest: the hash of "key\0value\0" in the order of keys. */
export function digestOf(values: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  for (const key of [...values.keys()].sort()) hash.update(`${key}\0${values.get(key)}\0`);
  return hash.digest("hex").slice(0, 16);
}

export type KvLine = { key: string; value: string | null; revision: string; v3rv: string; ttl: number; type: number };
export type ClientEvent = {
  client?: number;
  hello?: { version: string; syncerType: string; supportsNodeResourceUpdates: boolean };
  restart?: string;
  status?: number;
  kv?: KvLine;
  closed?: { afterMs: number };
  allInSync?: number;
  stats?: ClientStats;
};
export type ClientStats = {
  connected: number;
  inSync: number;
  kvs: number;
  messages: number;
  deletions: number;
  backwards: number;
  bytes: number;
  errors: { [text: string]: number };
  states: { [digest: string]: number };
  /** Only in the last word of a program that ends: sorting them meanwhile would hold its clients up. */
  inSyncMs?: Percentiles | null;
  latencyMs?: Percentiles | null;
};
export type Percentiles = { count: number; p50: number; p90: number; p99: number; max: number };

export class GoClients implements AsyncDisposable {
  readonly events: ClientEvent[] = [];
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<number | null>;
  stderr = "";
  #wake: () => void = () => undefined;

  constructor(server: { address: { port: number } }, flags: readonly string[]) {
    const transport = flags.includes("--ca") ? ["--server-cn", "calico-typha"] : ["--plaintext"];
    const all = ["--server", `127.0.0.1:${server.address.port}`, ...transport, "--until-stdin-closes", ...flags];
    this.child = spawn(goClient.path ?? "", all);
    this.child.stdin.on("error", () => undefined); // the client may be gone before its input is closed
    createInterface(this.child.stdout).on("line", (line) => {
      this.events.push(JSON.parse(line) as ClientEvent); // written by test/peers/typha/client/print.go
      this.#wake();
    });
    this.child.stderr.on("data", (text: Buffer) => {
      this.stderr += text.toString();
    });
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.child.on("close", (code) => {
      resolve(code);
      this.#wake();
    });
    this.exited = promise;
  }

  /** Waits for what the events come to. */
  async until<T>(
    found: (events: ClientEvent[]) => T | undefined | false,
    what: string,
    deadlineMs = 120_000,
  ): Promise<T> {
    const endMs = performance.now() + deadlineMs;
    for (;;) {
      const answer = found(this.events);
      if (answer !== undefined && answer !== false) return answer;
      const leftMs = endMs - performance.now();
      if (leftMs <= 0 || this.child.exitCode !== null) {
        const last = JSON.stringify(this.events.slice(-5));
        throw new Error(`waited in vain for ${what}; exit ${this.child.exitCode}; ${this.stderr}; last events ${last}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await Promise.race([promise, sleep(Math.min(leftMs, 200))]);
    }
  }

  inSync(clients = 1): Promise<true> {
    const isInSync = (events: ClientEvent[]): true | undefined =>
      events.filter(({ status }) => status === 2).length >= clients ||
      events.some(({ allInSync }) => allInSync === clients)
        ? true
        : undefined;
    return this.until(isInSync, "in-sync");
  }

  /** What one client holds after everything it was told. */
  get state(): { [path: string]: string } {
    const state: { [path: string]: string } = {};
    for (const { kv } of this.events) {
      if (kv === undefined) continue;
      if (kv.value === null) delete state[kv.key];
      else state[kv.key] = kv.value;
    }
    return state;
  }

  get kvs(): KvLine[] {
    return this.events.flatMap(({ kv }) => kv ?? []);
  }

  /** Lets clients that stalled (--stall-at) read on. */
  readOn(): void {
    this.child.stdin.write("read on\n");
  }

  /** Ends the client well and answers its exit code. */
  async close(): Promise<number | null> {
    this.child.stdin.end();
    return this.exited;
  }

  /** For clients started with untilLast: waits until each has been told everything, and answers what they counted. */
  async statsAtLast(): Promise<ClientStats> {
    await this.exited;
    return this.#lastStats();
  }

  /** Ends it and answers what it counted. */
  async finalStats(): Promise<ClientStats> {
    await this.close();
    return this.#lastStats();
  }

  #lastStats(): ClientStats {
    const stats = this.events.findLast((event) => event.stats !== undefined)?.stats;
    if (stats === undefined) throw new Error(`the client printed no stats: ${this.stderr}`);
    return stats;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

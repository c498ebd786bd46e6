// A server of ours on a free port with short limits, and Go clients to hold it against. What a test waits for it waits
// for by event or condition, with a deadline that only a failure reaches.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { FanoutMetrics } from "../../src/fanout/index.ts";
import type { Log, LogFields } from "../../src/lib/index.ts";
import type { KvUpdate, SyncerType, SyncStatus, UpdateType } from "../../src/model/index.ts";
import { type ServeOptions, type Server, startServer } from "../../src/server/index.ts";
import { goPeer } from "./go.ts";

export const goClient = await goPeer("test/peers/typha-client");
/** For `{ skip }` of tests that need the Go client. */
export const withoutGoClient: string | false = goClient.missing ?? false;

export type TestServer = Server & {
  readonly metrics: RecordedMetrics;
  readonly lines: { level: string; message: string; fields: LogFields }[];
  /** Sets these keys of felix, or of the syncer named. */
  set(values: { [path: string]: string }, options?: { syncer?: SyncerType; type?: UpdateType }): void;
  delete(paths: readonly string[], options?: { syncer?: SyncerType; type?: UpdateType }): void;
  status(status: SyncStatus, syncer?: SyncerType): void;
};

export async function serve(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const lines: TestServer["lines"] = [];
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const metrics = new RecordedMetrics();
  const server = await startServer({
    listen: { host: "127.0.0.1", port: 0 },
    workers: 0,
    version: "test",
    log,
    metrics,
    ...options,
  });
  let revision = 0;
  const update = (path: string, value: string | undefined, type: UpdateType): KvUpdate => {
    revision += 1;
    return { path, value, revision: value === undefined ? "" : `${revision}`, v3ResourceVersion: "", type };
  };
  return Object.assign(server, {
    metrics,
    lines,
    set(
      values: { [path: string]: string },
      { syncer = "felix", type = 1 }: { syncer?: SyncerType; type?: UpdateType } = {},
    ) {
      server.apply({ syncer, updates: Object.entries(values).map(([path, value]) => update(path, value, type)) });
    },
    delete(paths: readonly string[], { syncer = "felix", type = 3 }: { syncer?: SyncerType; type?: UpdateType } = {}) {
      server.apply({ syncer, updates: paths.map((path) => update(path, undefined, type)) });
    },
    status(status: SyncStatus, syncer: SyncerType = "felix") {
      server.apply({ syncer, updates: [], status });
    },
  } satisfies Omit<TestServer, keyof Server>);
}

/** Many keys at once, as config entries: <prefix>0 … */
export function manyKeys(count: number, value: (index: number) => string, prefix = "key-"): { [path: string]: string } {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`/calico/v1/config/${prefix}${index}`, value(index)]),
  );
}

export class RecordedMetrics implements FanoutMetrics {
  readonly values = new Map<string, number>();
  readonly observed = new Map<string, { value: number; times: number }[]>();

  add(name: string, syncer: string | undefined, difference: number): void {
    const key = syncer === undefined ? name : `${name}{${syncer}}`;
    this.values.set(key, (this.values.get(key) ?? 0) + difference);
  }

  set(name: string, syncer: string, value: number): void {
    this.values.set(`${name}{${syncer}}`, value);
  }

  observe(name: string, syncer: string, value: number, times: number): void {
    const key = `${name}{${syncer}}`;
    this.observed.set(key, [...(this.observed.get(key) ?? []), { value, times }]);
  }

  get(key: string): number {
    return this.values.get(key) ?? 0;
  }
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
  inSyncMs: Percentiles | null;
  latencyMs: Percentiles | null;
};
export type Percentiles = { count: number; p50: number; p90: number; p99: number; max: number };

export class GoClients implements AsyncDisposable {
  readonly events: ClientEvent[] = [];
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<number | null>;
  stderr = "";
  #wake: () => void = () => undefined;

  constructor(server: { address: { port: number } }, flags: readonly string[]) {
    const transport = flags.some((flag) => flag === "--ca") ? [] : ["--plaintext"];
    const all = ["--server", `127.0.0.1:${server.address.port}`, ...transport, "--until-stdin-closes", ...flags];
    this.child = spawn(goClient.path ?? "", all);
    this.child.stdin.on("error", () => undefined); // the client may be gone before its input is closed
    createInterface(this.child.stdout).on("line", (line) => {
      this.events.push(JSON.parse(line) as ClientEvent); // written by test/peers/typha-client/print.go
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
    deadlineMs = 30_000,
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

  /** Ends the client well and answers its exit code. */
  async close(): Promise<number | null> {
    this.child.stdin.end();
    return this.exited;
  }

  /** Ends it and answers what it counted. */
  async finalStats(): Promise<ClientStats> {
    await this.close();
    const stats = this.events.findLast((event) => event.stats !== undefined)?.stats;
    if (stats === undefined) throw new Error(`the client printed no stats: ${this.stderr}`);
    return stats;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }
}

/** Polls until the condition holds; fails by name after the deadline. */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string),
  deadlineMs = 30_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await sleep(10);
  }
}

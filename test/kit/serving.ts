// A server of ours on a free port with short limits, and Go clients to hold it against. What a test waits for it waits
// for by event or condition, with a deadline that only a failure reaches.

import type { KvUpdate, SyncerType, SyncStatus, UpdateType } from "../../src/calico/model/index.ts";
import type { FanoutMetrics } from "../../src/typha/fanout/index.ts";
// Past the door of src/typha/server, through which the datastores and their clients would come along.
import { type ServeOptions, type Server, startServer } from "../../src/typha/server/serve.ts";
import { type LogLine, recordLog } from "./recorded-log.ts";

export { eventually } from "./eventually.ts";
export { type ClientStats, digestOf, GoClients, goClient, lastKey, untilLast, withoutGoClient } from "./go-clients.ts";

export type TestServer = Server & {
  readonly metrics: RecordedMetrics;
  readonly lines: readonly LogLine[];
  /** What felix was told so far: a client that has followed to the end holds just this. */
  readonly told: ReadonlyMap<string, string>;
  /** Sets these keys of felix, or of the syncer named. */
  set(values: { [path: string]: string }, options?: { syncer?: SyncerType; type?: UpdateType }): void;
  delete(paths: readonly string[], options?: { syncer?: SyncerType; type?: UpdateType }): void;
  status(status: SyncStatus, syncer?: SyncerType): void;
};

export async function serve(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const { log, lines } = recordLog();
  const metrics = new RecordedMetrics();
  const told = new Map<string, string>();
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
    told,
    set(
      values: { [path: string]: string },
      { syncer = "felix", type = 1 }: { syncer?: SyncerType; type?: UpdateType } = {},
    ) {
      if (syncer === "felix") for (const [path, value] of Object.entries(values)) told.set(path, value);
      server.apply({ syncer, updates: Object.entries(values).map(([path, value]) => update(path, value, type)) });
    },
    delete(paths: readonly string[], { syncer = "felix", type = 3 }: { syncer?: SyncerType; type?: UpdateType } = {}) {
      if (syncer === "felix") for (const path of paths) told.delete(path);
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

class RecordedMetrics implements FanoutMetrics {
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

// What a part of the agent is given, for tests: the bgp data set of a datastore, through the real syncers, for any number of nodes at once.
import { type Log, silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { createHealth, createMetrics, type Health } from "../../../src/base/observe/index.ts";
import type { Datastore } from "../../../src/calico/datastore/index.ts";
import { syncStatus } from "../../../src/calico/model/index.ts";
import { runSyncers } from "../../../src/calico/syncer/index.ts";
import { birdMetrics } from "../../../src/node/bird/index.ts";
import type { Feed, FeedConsumer, PartWorld } from "../../../src/node/part/index.ts";

export class TestFeed implements AsyncDisposable {
  readonly #known = new Map<string, string>();
  readonly #consumers = new Set<FeedConsumer>();
  readonly #ends = new AbortController();
  readonly #running: Promise<void>;
  #inSync = false;

  constructor(datastore: Datastore) {
    this.#running = this.#run(datastore);
  }

  readonly feed: Feed = {
    follow: (_set, consumer) => {
      this.#consumers.add(consumer);
      for (const [path, value] of this.#known) consumer.set(path, value);
      consumer.settled({ inSync: this.#inSync });
      return { [Symbol.dispose]: () => void this.#consumers.delete(consumer) };
    },
  };

  async #run(datastore: Datastore): Promise<void> {
    const { signal } = this.#ends;
    // As an agent reads the datastore itself.
    const options = { datastore, clock: systemClock, log: silentLog, random: Math.random, signal, passesFaulty: true };
    for await (const { syncer, updates, status } of runSyncers(options)) {
      if (syncer !== "bgp") continue;
      for (const { path, value } of updates) {
        if (value === undefined) this.#known.delete(path);
        else this.#known.set(path, value);
        for (const consumer of this.#consumers) {
          if (value === undefined) consumer.delete(path);
          else consumer.set(path, value);
        }
      }
      if (status === syncStatus.inSync) this.#inSync = true;
      for (const consumer of this.#consumers) consumer.settled({ inSync: this.#inSync });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    await this.#running.catch(() => undefined); // ended by us
  }
}

export type TestWorld = PartWorld & { readonly whole: Health };

export function testWorld(options: {
  node: string;
  feed: Feed;
  datastore: Datastore;
  log?: Log;
  settings?: { readonly [name: string]: string };
}): TestWorld {
  const { node, feed, datastore, log = silentLog, settings = {} } = options;
  const health = createHealth({ clock: systemClock, log: silentLog });
  return {
    node,
    feed,
    log,
    clock: systemClock,
    metrics: createMetrics({
      table: birdMetrics,
      labels: {},
      clock: systemClock,
      includesProcess: false,
      includesRuntime: false,
    }),
    health: health.register("bird", { reportsLive: true, reportsReady: true }),
    whole: health,
    settings: { raw: (name) => settings[name], onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    datastore: async () => datastore,
  };
}

// Serves clients on the main thread: for one-core machines, for tests, and with TYPHA_WORKERS=0.

import type { SyncerType } from "../../../calico/model/basics.ts";
import { type BroadcastSource, Hub, type HubOptions, type Publisher } from "../../fanout/index.ts";
import { Listener, type ListenerOptions } from "../listening/listener.ts";
import type { ServingThread } from "./serving-thread.ts";

export async function startLocalThread(options: {
  hub: Omit<HubOptions, "sources">;
  publishers: ReadonlyMap<SyncerType, Publisher>;
  listener: Omit<ListenerOptions, "hub" | "isShared">;
}): Promise<{ thread: ServingThread; port: number }> {
  const sources = new Map([...options.publishers].map(([syncer, publisher]) => [syncer, sourceOf(publisher)]));
  const hub = new Hub({ ...options.hub, sources });
  for (const [syncer, publisher] of options.publishers) hub.broadcasts.get(syncer)?.startAt(publisher.flushed);
  const listener = new Listener({ ...options.listener, hub, isShared: false });
  const port = await listener.listen();
  const stopping = new AbortController();
  const running = hub.run(stopping.signal);
  const thread: ServingThread = {
    variantsInUse: (syncer) => hub.variantsInUse(syncer),
    oldestPosition: (syncer) => hub.oldestPosition(syncer),
    flushCostMs: (syncer) => hub.flushCostMs(syncer),
    take: (syncer, flush) => hub.take(syncer, flush),
    get activeCount() {
      return hub.activeCount;
    },
    silentForMs: 0, // whoever asks runs on this thread
    reports: async () => hub.reports(),
    writesSince: async (syncer, position) => hub.writesSince(syncer, position),
    drop: async (ids, why) => hub.drop(ids, why),
    setMaterial: (material) => listener.setMaterial(material),
    setFreshness: (isFresh) => listener.setFreshness(isFresh),
    closeListener: () => listener.close(),
    async stop() {
      listener.close();
      stopping.abort(new Error("the server stops"));
      await running;
    },
  };
  return { thread, port };
}

function sourceOf(publisher: Publisher): BroadcastSource {
  return {
    snapshot: async (variant) => publisher.snapshot(variant),
    release: (snapshot) => publisher.release(snapshot),
    changes: async (since, variant) => publisher.changes(since, variant),
  };
}

// A follower and what its words add up to: the objects it has announced, and every status it said. Tests compare that
// with the datastore.

import { type Clock, type Log, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, type Follower, type FollowLimits, follow } from "../../src/calico/datastore/index.ts";
import type { Kind } from "../../src/calico/kinds/index.ts";
import type { SyncStatus } from "../../src/calico/model/index.ts";

export type FollowState = AsyncDisposable & {
  readonly follower: Follower;
  /** namespace/name to revision. */
  readonly objects: ReadonlyMap<string, string>;
  readonly statuses: readonly SyncStatus[];
  isInSync(): boolean;
};

export type FollowStateOptions = { clock?: Clock; log?: Log; limits?: Partial<FollowLimits> };

export function followState(datastore: Datastore, kind: Kind, options: FollowStateOptions = {}): FollowState {
  const controller = new AbortController();
  const objects = new Map<string, string>();
  const statuses: SyncStatus[] = [];
  const follower = follow(datastore, kind, {
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
    random: Math.random,
    signal: controller.signal,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const done = (async () => {
    for await (const events of follower) {
      for (const event of events) {
        if (event.is === "status") statuses.push(event.status);
        else if (event.is === "set") objects.set(keyOf(event.object.id), event.object.revision);
        else objects.delete(keyOf(event.id));
      }
    }
  })();
  return {
    follower,
    objects,
    statuses,
    isInSync: () => statuses.at(-1) === 2,
    async [Symbol.asyncDispose]() {
      controller.abort();
      await done;
    },
  };
}

/** What a fresh list says, in the same form. */
export async function listState(datastore: Datastore, kind: Kind): Promise<Map<string, string>> {
  const objects = new Map<string, string>();
  for await (const page of datastore.list(kind, { signal: AbortSignal.timeout(60_000) })) {
    for (const { id, revision } of page.items) objects.set(keyOf(id), revision);
  }
  return objects;
}

function keyOf(id: { namespace: string; name: string }): string {
  return `${id.namespace}/${id.name}`;
}

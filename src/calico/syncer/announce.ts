// What has been announced of one kind, and so what an update is: new, updated, deleted, or nothing to say. The state is
// a revision per key; values are compared later, by the cache, which has them.
import type { ConvertedKv } from "../convert/index.ts";
import { type KvUpdate, updateType } from "../model/index.ts";

export type Announcer = {
  /** Undefined: clients know this already. */
  announce(kv: ConvertedKv): KvUpdate | undefined;
  readonly size: number;
  paths(): Iterable<string>;
};

export function createAnnouncer(): Announcer {
  const revisions = new Map<string, string>();

  const announce = (kv: ConvertedKv): KvUpdate | undefined => {
    const known = revisions.get(kv.path);
    // An invalid value is announced like a good one and counts as known: the original takes its value away only after it
    // has chosen the type, and clients expect the pair.
    if (kv.value === undefined && kv.isInvalid !== true) {
      if (known === undefined) return undefined;
      revisions.delete(kv.path);
      return { path: kv.path, value: undefined, revision: "", v3ResourceVersion: "", type: updateType.deleted };
    }
    if (known === kv.revision) return undefined;
    revisions.set(kv.path, kv.revision);
    return {
      path: kv.path,
      value: kv.value,
      revision: kv.revision,
      v3ResourceVersion: kv.value === undefined ? "" : kv.v3ResourceVersion,
      type: known === undefined ? updateType.new : updateType.updated,
    };
  };

  return {
    announce,
    get size() {
      return revisions.size;
    },
    paths: () => revisions.keys(),
  };
}

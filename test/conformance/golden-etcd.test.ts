// The golden data in etcd: what real tools stored, what the real Typha served from it, and what clients were told of six
// changes afterwards. Order included.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseJson } from "../../src/base/lib/index.ts";
import type { ObjectId, Revision, StoredObject } from "../../src/calico/datastore/index.ts";
import { followedKinds, type Kind, kindInfo } from "../../src/calico/kinds/index.ts";
import { compareUtf8, type SyncerType, syncerTypes } from "../../src/calico/model/index.ts";
import type { ExpectedEvent, ExpectedKv } from "./golden-case.ts";
import { compareEvents, compareKvs } from "./golden-compare.ts";
import { createReplay, startReplay } from "./golden-replay.ts";

const root = join(import.meta.dirname, "../vectors/golden/etcd");
// Files of ours whose shape README.md gives.
const read = <T>(file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as T;

type Entry = { readonly key: string; readonly value: string; readonly modRevision: number };
type Change = Entry & { readonly type: "PUT" | "DELETE" };

function identify(key: string): { kind: Kind; id: ObjectId } | undefined {
  const kind = followedKinds.find((name) => key.startsWith(kindInfo(name).etcdPrefix ?? "\u0000"));
  if (kind === undefined) return undefined;
  const tail = key.slice(kindInfo(kind).etcdPrefix?.length ?? 0);
  const slash = tail.indexOf("/");
  if (!kindInfo(kind).namespaced) return { kind, id: { namespace: "", name: tail } };
  return { kind, id: { namespace: tail.slice(0, slash), name: tail.slice(slash + 1) } };
}

function stored({ value, modRevision }: Entry, id: ObjectId): StoredObject {
  return { id, revision: String(modRevision) as Revision, value: parseJson(value) }; // the revision as etcd's, in text
}

function startFromEtcd() {
  const replay = createReplay({ flavour: "etcdv3", usePodCidr: false });
  const objects = read<Entry[]>("stored.json").flatMap((entry) => {
    const found = identify(entry.key);
    return found === undefined ? [] : [{ kind: found.kind, object: stored(entry, found.id) }];
  });
  startReplay(replay, objects);
  return replay;
}

for (const syncer of syncerTypes) {
  test(`etcd: the snapshot of ${syncer}, byte for byte and in order`, () => {
    const expected = read<{ kvs: ExpectedKv[] }>(`expect-${syncer}.json`).kvs;
    const ours = [...startFromEtcd().snapshot(syncer).values()].sort((a, b) => compareUtf8(a.key, b.key));
    deepEqual(
      ours.map(({ key }) => key),
      expected.map(({ key }) => key),
    );
    const findings = expected.flatMap((kv, at) => compareKvs(ours[at], kv, syncer));
    equal(findings.map(({ text }) => text).join("\n"), "");
  });
}

for (const syncer of ["felix", "bgp"] as const satisfies SyncerType[]) {
  test(`etcd: what a client of ${syncer} is told of the changes, in order`, () => {
    const replay = startFromEtcd();
    const seen: ExpectedEvent[] = [];
    for (const change of read<Change[]>("changes.json")) {
      const found = identify(change.key);
      if (found === undefined) continue;
      const { kind, id } = found;
      const event =
        change.type === "DELETE"
          ? ({ is: "delete", id } as const)
          : ({ is: "set", object: stored(change, id), origin: "watch" } as const);
      seen.push(...(replay.feed(kind, [event]).get(syncer) ?? []));
    }
    const expected = read<{ events: ExpectedEvent[] }>(`expect-${syncer}.deltas.json`);
    const findings = compareEvents(seen, expected, syncer);
    equal(findings.map(({ text }) => text).join("\n"), "");
  });
}

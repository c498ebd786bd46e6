// The golden data through a real etcd: what the real tools stored is put there at the revisions it had, our datastore
// and syncers follow it, and what comes out is what the real Typha served; then the same for six changes.
import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openEtcdDatastore } from "../../src/calico/datastore/index.ts";
import { compareUtf8, type SyncerType, syncerTypes, updateType } from "../../src/calico/model/index.ts";
import { runSyncers } from "../../src/calico/syncer/index.ts";
import { type EtcdMember, etcdMissing, startEtcd } from "../kit/etcd.ts";
import { eventually } from "../kit/eventually.ts";

type Kv = { key: string; value: string | null; revision: string; v3rv: string; ttl: number; type: number };
type Stored = { key: string; value: string; modRevision: number; type?: "PUT" | "DELETE" };

const read = <T>(file: string) => JSON.parse(readFileSync(`test/vectors/golden/etcd/${file}`, "utf8")) as T;
const skip = (await etcdMissing()) ?? false;

test("golden: a real etcd with what the real tools stored is served as the real Typha serves it", {
  skip,
}, async () => {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("an etcd without members");
  const revisions = new Revisions(member);
  for (const each of read<Stored[]>("stored.json").sort((a, b) => a.modRevision - b.modRevision)) {
    await revisions.reach(each.modRevision, each);
  }
  await using datastore = await openEtcdDatastore({ endpoints: [member.url] });
  const ending = new AbortController();
  const seen = new Seen();
  const edge = { clock: systemClock, log: silentLog, random: Math.random };
  const reading = seen.readAll(runSyncers({ datastore, ...edge, signal: ending.signal }));
  await eventually(() => syncerTypes.every((syncer) => seen.statuses.get(syncer) === 2), "all syncers are in sync");
  for (const syncer of syncerTypes) {
    deepEqual(seen.snapshot(syncer), read<{ kvs: Kv[] }>(`expect-${syncer}.json`).kvs, syncer);
  }
  seen.startDeltas();
  for (const each of read<Stored[]>("changes.json")) {
    const before = seen.batches;
    await revisions.reach(each.modRevision, each);
    await eventually(() => seen.batches > before, "the change is heard of");
  }
  for (const syncer of ["felix", "bgp"] as const) {
    const expected = read<{ events: { kv?: Kv }[] }>(`expect-${syncer}.deltas.json`).events.flatMap(
      ({ kv }) => kv ?? [],
    );
    await eventually(() => seen.deltas(syncer).length >= expected.length, `all deltas of ${syncer}`);
    deepEqual(seen.deltas(syncer), expected, syncer);
  }
  ending.abort();
  await reading;
});

/** Writes at exact revisions: whatever else had happened in the recorded etcd is stood in for by writes to another key. */
class Revisions {
  readonly #member: EtcdMember;
  #at = 1;

  constructor(member: EtcdMember) {
    this.#member = member;
  }

  async reach(revision: number, { key, value, type = "PUT" }: Stored): Promise<void> {
    for (; this.#at < revision - 1; this.#at++) await this.#member.ask({ do: "put", key: "/filler", value: "" });
    await this.#member.ask(type === "DELETE" ? { do: "delete", key } : { do: "put", key, value });
    this.#at += 1;
  }
}

/** What the stream adds up to; like the snapshot cache, it lets pass no update that changes nothing. */
class Seen {
  readonly statuses = new Map<SyncerType, number>();
  batches = 0;
  readonly #kvs = new Map<SyncerType, Map<string, Kv>>();
  #deltas = new Map<SyncerType, Kv[]>();

  async readAll(syncers: ReturnType<typeof runSyncers>): Promise<void> {
    for await (const { syncer, updates, status } of syncers) {
      for (const { path: key, value = null, revision, v3ResourceVersion, type } of updates) {
        this.#take(syncer, { key, value, revision, v3rv: v3ResourceVersion, ttl: 0, type });
      }
      if (status !== undefined) this.statuses.set(syncer, status);
      this.batches += 1;
    }
  }

  snapshot(syncer: SyncerType): Kv[] {
    return [...(this.#kvs.get(syncer)?.values() ?? [])].sort((a, b) => compareUtf8(a.key, b.key));
  }

  startDeltas(): void {
    this.#deltas = new Map();
  }

  deltas(syncer: SyncerType): Kv[] {
    return this.#deltas.get(syncer) ?? [];
  }

  #take(syncer: SyncerType, kv: Kv): void {
    const kvs = this.#kvs.getOrInsert(syncer, new Map());
    if (kv.type === updateType.updated && kvs.get(kv.key)?.value === kv.value) return;
    this.#deltas.getOrInsert(syncer, []).push(kv);
    if (kv.value === null) kvs.delete(kv.key);
    else kvs.set(kv.key, { ...kv, type: updateType.new });
  }
}

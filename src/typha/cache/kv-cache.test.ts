import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { type KvUpdate, syncStatus, type UpdateType, updateType } from "../../calico/model/basics.ts";
import { type CacheCodec, type Changes, KvCache, type LegacyForm, type Snapshot, type Variant } from "./index.ts";

// A codec whose bytes can be read back: one line per update, behind one line per message.
const codec: CacheCodec = {
  encode(update) {
    const head = `${update.path}=${update.value ?? ""}`;
    return { bytes: toBytes(`${head};${update.revision}\n`), valueEnd: toBytes(head).length };
  },
  message(pieces, allocate) {
    const text = toBytes(`#\n${pieces.map(({ bytes, type }) => `${type} ${toText(bytes)}`).join("")}`);
    const memory = allocate(text.length);
    memory.set(text);
    return memory;
  },
  compress: (plain, compression) => toBytes(toText(plain).replaceAll("#", `#${compression}`)),
  allocate: (size) => new Uint8Array(size),
};
const toBytes = (text: string) => new TextEncoder().encode(text);
const toText = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const whole = ({ parts }: Snapshot) => Buffer.concat(parts);

type Seen = { path: string; value: string; type: number };
function read(bytes: Uint8Array): Seen[] {
  const lines = toText(bytes).split("\n");
  return lines.flatMap((line) => {
    const [, type, path, value] = /^(\d) ([^=]*)=(.*);/.exec(line) ?? [];
    return path === undefined || value === undefined ? [] : [{ path, value, type: Number(type) }];
  });
}

const sameToAll: LegacyForm = (update) => update;
function set(path: string, value: string, type: UpdateType = updateType.new): KvUpdate {
  return { path, value, revision: "7", v3ResourceVersion: "", type };
}
function gone(path: string, type: UpdateType = updateType.deleted): KvUpdate {
  return { path, value: undefined, revision: "", v3ResourceVersion: "", type };
}
function newCache(
  limits: { maxMessageKvs?: number; maxStepKvs?: number; maxTombstones?: number } = {},
  legacyForm = sameToAll,
) {
  return new KvCache({ codec, clock: systemClock, legacyForm, limits });
}
function changes(cache: KvCache, since: number, variant: Variant = "modern/none"): Changes {
  const found = cache.changesSince(since, variant);
  if (found === "forgotten") throw new Error("forgotten");
  return found;
}
function seenSince(cache: KvCache, since: number): string[] {
  return read(changes(cache, since).bytes).map(({ path, value, type }) => `${type} ${path}=${value}`);
}

describe("what is said of one batch", () => {
  const cases: { name: string; before?: KvUpdate[]; batch: KvUpdate[]; said: string[]; skipped?: number }[] = [
    { name: "a new key as new", batch: [set("/a", "1")], said: ["1 /a=1"] },
    {
      name: "a change with the syncer's own word",
      before: [set("/a", "1")],
      batch: [set("/a", "2", updateType.updated)],
      said: ["2 /a=2"],
    },
    {
      name: "nothing of an update that repeats the value, whatever its revision",
      before: [set("/a", "1")],
      batch: [{ ...set("/a", "1", updateType.updated), revision: "99" }],
      said: [],
      skipped: 1,
    },
    {
      name: "a repeated new, because the key may have been away in between",
      before: [set("/a", "1")],
      batch: [set("/a", "1")],
      said: ["1 /a=1"],
    },
    { name: "nothing of a deletion of what was never there", batch: [gone("/a")], said: [], skipped: 1 },
    {
      name: "nothing of a value that is invalid from the start",
      batch: [gone("/a", updateType.new)],
      said: [],
      skipped: 1,
    },
    {
      name: "a value that was invalid from the start, once it is good, with the syncer's word",
      before: [gone("/a", updateType.new)],
      batch: [set("/a", "1", updateType.updated)],
      said: ["2 /a=1"],
    },
    {
      name: "nothing of a second deletion",
      before: [set("/a", "1")],
      batch: [gone("/a"), gone("/a")],
      said: ["3 /a="],
      skipped: 1,
    },
    {
      name: "an invalid value as a deletion that keeps its type",
      before: [set("/a", "1")],
      batch: [gone("/a", updateType.updated)],
      said: ["2 /a="],
    },
    {
      name: "a key that is the prefix of another by itself",
      before: [set("/a", "1"), set("/a/b", "1")],
      batch: [gone("/a")],
      said: ["3 /a="],
    },
    {
      name: "a value that comes back after it was invalid with the syncer's word",
      before: [set("/a", "1"), gone("/a", updateType.updated)],
      batch: [set("/a", "1", updateType.updated)],
      said: ["2 /a=1"],
    },
    {
      name: "each key once, in the order of its last change",
      batch: [set("/a", "1"), set("/b", "1"), set("/a", "2", updateType.updated)],
      said: ["1 /b=1", "1 /a=2"],
    },
    {
      name: "two updates of a known key as one update",
      before: [set("/a", "1")],
      batch: [set("/a", "2", updateType.updated), set("/a", "3", updateType.updated)],
      said: ["2 /a=3"],
    },
  ];
  for (const { name, before = [], batch, said, skipped = 0 } of cases) {
    test(name, () => {
      const cache = newCache();
      cache.apply({ updates: before });
      const since = cache.head;
      const applied = cache.apply({ updates: batch });
      deepEqual(seenSince(cache, since), said);
      equal(applied.skipped, skipped);
      equal(applied.received, batch.length);
    });
  }
});

test("snapshot entries are always new, whatever the datastore last called them", () => {
  const cache = newCache();
  cache.apply({ updates: [set("/a", "1"), set("/b", "1"), set("/a", "2", updateType.updated), gone("/b")] });
  deepEqual(read(whole(cache.snapshot("modern/none").snapshot)), [{ path: "/a", value: "2", type: 1 }]);
});

test("a status is there only after the updates of its batch", () => {
  const cache = newCache();
  equal(cache.status, syncStatus.waitForDatastore);
  cache.apply({ updates: [set("/a", "1")], status: syncStatus.inSync });
  equal(cache.status, syncStatus.inSync);
  equal(cache.head, 1);
});

test("messages hold at most the allowed number of keys, in snapshots and in changes", () => {
  const cache = newCache({ maxMessageKvs: 7 });
  cache.apply({ updates: Array.from({ length: 100 }, (_, index) => set(`/k${index}`, "v")) });
  for (const bytes of [whole(cache.snapshot("modern/snappy").snapshot), changes(cache, 0, "modern/snappy").bytes]) {
    const messages = toText(bytes).split("#snappy\n").slice(1);
    ok(messages.every((message) => message.trim().split("\n").length <= 7));
    equal(read(bytes).length, 100);
  }
});

test("after 10 of 100,000 keys changed at most 10 segments are made again", () => {
  const cache = newCache();
  cache.apply({ updates: Array.from({ length: 100_000 }, (_, index) => set(`/k/${index}`, "v")) });
  const first = cache.snapshot("modern/none");
  cache.release(first.snapshot);
  const made = cache.stats.remadeSegments;
  ok(made >= 512, `${made} segments for 100,000 keys`);
  cache.apply({ updates: Array.from({ length: 10 }, (_, index) => set(`/k/${index * 9999}`, "w")) });
  const again = readAfterASecond(cache);
  equal(again.filter(({ value }) => value === "w").length, 10);
  ok(cache.stats.remadeSegments - made <= 10, `${cache.stats.remadeSegments - made} segments remade`);
});

// Asking in another dialect gets past the shelf, which keeps a snapshot for a second; the segments are the same ones.
function readAfterASecond(cache: KvCache): Seen[] {
  return read(whole(cache.snapshot("legacy/none").snapshot));
}

test("an old snapshot serves whoever comes within a second, and changes follow from its position", () => {
  let nowMs = 0;
  const cache = new KvCache({ codec, clock: { ...systemClock, monotonicMs: () => nowMs }, legacyForm: sameToAll });
  cache.apply({ updates: [set("/a", "1")] });
  const first = cache.snapshot("modern/none");
  cache.apply({ updates: [set("/b", "1")] });
  nowMs = 900;
  const second = cache.snapshot("modern/none");
  ok(second.isReused && second.snapshot === first.snapshot);
  deepEqual(seenSince(cache, second.snapshot.position), ["1 /b=1"]);
  nowMs = 1100;
  ok(!cache.snapshot("modern/none").isReused);
});

test("no more than four snapshots are kept for slow readers: who comes then shares the newest", () => {
  let nowMs = 0;
  const cache = new KvCache({ codec, clock: { ...systemClock, monotonicMs: () => nowMs }, legacyForm: sameToAll });
  const held = new Set<unknown>();
  for (let round = 0; round < 20; round += 1) {
    nowMs += 10_000;
    cache.apply({ updates: [set(`/k${round}`, "1")] });
    held.add(cache.snapshot("modern/none").snapshot);
  }
  equal(held.size, 4);
});

for (const { deletions, isReused } of [
  { deletions: 0, isReused: true },
  { deletions: 5, isReused: true },
  { deletions: 6, isReused: false },
  { deletions: 100, isReused: false },
]) {
  const name = isReused ? "shares the newest" : "is not handed one that changes cannot follow for long";
  test(`with four slow readers, and ${deletions} deletions of the 10 that are kept, who comes next ${name}`, () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const cache = new KvCache({ codec, clock, legacyForm: sameToAll, limits: { maxTombstones: 10 } });
    const deleteSome = (count: number, prefix: string) => {
      const paths = Array.from({ length: count }, (_, index) => `/${prefix}/${index}`);
      cache.apply({ updates: [set("/other", prefix), ...paths.map((path) => set(path, "1"))] });
      cache.apply({ updates: paths.map((path) => gone(path)) });
      nowMs += 2000;
      cache.tidy({ byAll: cache.head, published: cache.head }, () => true);
    };
    for (let reader = 0; reader < 4; reader += 1) {
      deleteSome(0, `${reader}`);
      cache.snapshot("modern/none");
    }
    deleteSome(deletions, "before");
    const next = cache.snapshot("modern/none");
    equal(next.isReused, isReused);
    deleteSome(5, "while it reads");
    ok(cache.changesSince(next.snapshot.position, "modern/none") !== "forgotten");
  });
}

test("tombstones go once every reader has seen them, and a reader that is older than one is told so", () => {
  const cache = newCache();
  cache.apply({ updates: [set("/a", "1"), set("/b", "1"), gone("/a")] });
  cache.tidy({ byAll: 2, published: cache.head }, () => false);
  equal(cache.stats.tombstones, 1);
  cache.tidy({ byAll: 3, published: cache.head }, () => false);
  equal(cache.stats.tombstones, 0);
  equal(cache.changesSince(2, "modern/none"), "forgotten");
  deepEqual(seenSince(cache, 3), []);
});

test("no more tombstones are kept for a reader that is away than there are live keys or the limit", () => {
  const cache = newCache({ maxTombstones: 10 });
  for (let index = 0; index < 100; index += 1) cache.apply({ updates: [set(`/k${index}`, "1"), gone(`/k${index}`)] });
  cache.tidy({ byAll: 0, published: cache.head }, () => false);
  equal(cache.stats.tombstones, 10);
  equal(cache.changesSince(0, "modern/none"), "forgotten");
});

test("a deletion that is not published yet is never forgotten, however many there are", () => {
  const cache = newCache({ maxTombstones: 10 });
  cache.apply({ updates: Array.from({ length: 100 }, (_, index) => set(`/k${index}`, "1")) });
  const published = cache.head;
  cache.apply({ updates: Array.from({ length: 100 }, (_, index) => gone(`/k${index}`)) });
  cache.tidy({ byAll: published, published }, () => false);
  equal(seenSince(cache, published).length, 100);
  cache.tidy({ byAll: published, published: cache.head }, () => false);
  equal(cache.stats.tombstones, 10);
});

test("a key updated 10,000 times behind a reader's back costs it one update", () => {
  const cache = newCache();
  cache.apply({ updates: [set("/a", "0")] });
  for (let round = 1; round <= 10_000; round += 1)
    cache.apply({ updates: [set("/a", `${round}`, updateType.updated)] });
  deepEqual(seenSince(cache, 1), ["2 /a=10000"]);
});

test("memory of pieces stays within twice what is live, however long the churn", () => {
  const cache = newCache();
  const filler = "x".repeat(1000);
  for (let round = 0; round < 200; round += 1) {
    // One key in fifty stays for ever, so that every slab has a survivor.
    const updates = Array.from({ length: 500 }, (_, index) =>
      set(index % 50 === 0 ? `/stays/${round}/${index}` : `/churns/${index}`, `${round}${filler}`),
    );
    cache.apply({ updates });
  }
  const { heldBytes, pieceBytes } = cache.stats;
  ok(heldBytes <= 2 * pieceBytes + 5 * 1024 * 1024, `${heldBytes} bytes held for ${pieceBytes} live`);
});

describe("legacy clients", () => {
  // Policies are known under another path; one with value "modern" cannot be said at all.
  const legacyForm: LegacyForm = (update) => {
    if (!update.path.startsWith("/policy/")) return update;
    if (update.value?.startsWith("modern")) return undefined;
    if (update.value?.startsWith("same")) return update;
    const tier = update.value?.split(":")[0] ?? "none";
    return { ...update, path: `/tier/${tier}/${update.path.slice("/policy/".length).replace("x-", "")}` };
  };
  const cases: { name: string; updates: KvUpdate[]; legacy: { [path: string]: string } }[] = [
    { name: "know other keys as they are", updates: [set("/a", "1")], legacy: { "/a": "1" } },
    { name: "know a policy by its tier", updates: [set("/policy/p", "t:1")], legacy: { "/tier/t/p": "t:1" } },
    { name: "are not told what they cannot know", updates: [set("/policy/p", "modern")], legacy: {} },
    {
      name: "lose a policy that becomes unsayable",
      updates: [set("/policy/p", "t:1"), set("/policy/p", "modern", updateType.updated)],
      legacy: {},
    },
    {
      name: "lose the old name of a policy that changes its tier",
      updates: [set("/policy/p", "t:1"), set("/policy/p", "u:1", updateType.updated)],
      legacy: { "/tier/u/p": "u:1" },
    },
    { name: "lose a deleted policy", updates: [set("/policy/p", "t:1"), gone("/policy/p")], legacy: {} },
    {
      name: "lose what was the same to all and then is for modern clients only",
      updates: [set("/policy/p", "same"), set("/policy/p", "modern", updateType.updated)],
      legacy: {},
    },
    {
      name: "lose it also when it was deleted in between",
      updates: [set("/policy/p", "same"), gone("/policy/p"), set("/policy/p", "modern")],
      legacy: {},
    },
    {
      name: "keep the other of two policies with one legacy name when the first goes",
      updates: [set("/policy/x-p", "t:1"), set("/policy/p", "t:2"), gone("/policy/x-p")],
      legacy: { "/tier/t/p": "t:2" },
    },
  ];
  for (const { name, updates, legacy } of cases) {
    test(name, () => {
      const cache = newCache({}, legacyForm);
      const stepwise = new Map<string, string>();
      let position = 0;
      for (const update of updates) {
        cache.apply({ updates: [update] });
        const step = changes(cache, position, "legacy/none");
        position = step.to;
        for (const { path, value } of read(step.bytes))
          value === "" ? stepwise.delete(path) : stepwise.set(path, value);
      }
      const merged = new Map<string, string>();
      for (const { path, value } of read(changes(cache, 0, "legacy/none").bytes))
        value === "" ? merged.delete(path) : merged.set(path, value);
      const snapshot = Object.fromEntries(
        read(whole(cache.snapshot("legacy/none").snapshot)).map(({ path, value }) => [path, value]),
      );
      deepEqual(Object.fromEntries(stepwise), legacy);
      deepEqual(Object.fromEntries(merged), legacy);
      deepEqual(snapshot, legacy);
    });
  }
});

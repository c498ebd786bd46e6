// Segments against a sorted list: whatever is added and removed, a snapshot holds every key once and in order, in segments
// that are neither too large nor many more than needed, and a change costs the work of its segment. A seed is printed on failure.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { CacheCodec, Variant } from "./codec.ts";
import type { Audience, Entry } from "./entry.ts";
import { PieceStore } from "./piece-store.ts";
import { Segments } from "./segments.ts";

const text = new TextEncoder();
const codec: CacheCodec = {
  encode: () => ({ bytes: new Uint8Array(), valueEnd: 0 }),
  message(pieces, allocate) {
    const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
    const memory = allocate(bytes.length);
    memory.set(bytes);
    return memory;
  },
  compress(plain, _compression, allocate) {
    const memory = allocate(plain.length);
    memory.set(plain);
    return memory;
  },
  allocate: (size) => new Uint8Array(size),
};

function makeSegments() {
  const store = new PieceStore();
  const segments = new Segments(codec, (entry) => store.read(entry.piece), 100);
  const entry = (path: string, audience: Audience = "both"): Entry => ({
    path,
    audience,
    piece: store.add(text.encode(`${path} ${audience}\n`)),
    valueEnd: 0,
    type: 1,
    isLive: true,
    position: 0,
    previousPosition: 0,
    bornAt: 0,
    segment: undefined,
    older: undefined,
    newer: undefined,
  });
  const lines = (variant: Variant = "modern/none") =>
    segments.collect(variant).parts.flatMap((part) => Buffer.from(part).toString().split("\n").slice(0, -1));
  return { segments, entry, lines };
}

const seed = Number(process.env.CATTAIL_SEED ?? Math.floor(Math.random() * 2 ** 31));
const orders: { name: string; paths: (count: number) => string[] }[] = [
  { name: "in order", paths: (count) => numbered(count) },
  { name: "backwards", paths: (count) => numbered(count).reverse() },
  { name: "in any order", paths: (count) => mixed(numbered(count)) },
];

for (const { name, paths } of orders) {
  test(`keys that come ${name} and mostly go again are all there, in order (seed ${seed})`, () => {
    const { segments, entry, lines } = makeSegments();
    const entries = paths(5000).map((path) => entry(path));
    for (const each of entries) segments.add(each);
    deepEqual(
      lines(),
      numbered(5000).map((path) => `${path} both`),
    );
    ok(segments.count >= 5000 / 128 && segments.count <= 5000 / 50, `${segments.count} segments for 5000 keys`);
    const kept = entries.filter((_, index) => index % 50 === 0);
    for (const each of mixed(entries)) if (!kept.includes(each)) segments.remove(each);
    deepEqual(lines(), kept.map(({ path }) => `${path} both`).sort());
    ok(segments.count <= 8, `${segments.count} segments for ${kept.length} keys`);
    for (const each of kept) segments.remove(each);
    equal(segments.count, 0);
    equal(segments.size, 0);
    deepEqual(lines(), []);
  });
}

test("two entries of one path, each for other clients, come and go by themselves", () => {
  const { segments, entry, lines } = makeSegments();
  // Many of them, so that segments are cut between the two.
  const pairs = numbered(1000).map((path) => [entry(path, "modern"), entry(path, "legacy")] as const);
  for (const [modern, legacy] of mixed(pairs)) {
    segments.add(modern);
    segments.add(legacy);
  }
  deepEqual(
    lines("modern/none"),
    numbered(1000).map((path) => `${path} modern`),
  );
  deepEqual(
    lines("legacy/none"),
    numbered(1000).map((path) => `${path} legacy`),
  );
  for (const [modern] of mixed(pairs)) segments.remove(modern);
  deepEqual(lines("modern/none"), []);
  deepEqual(
    lines("legacy/none"),
    numbered(1000).map((path) => `${path} legacy`),
  );
});

test("segments that were cut or joined know whether legacy clients hear the same", () => {
  const { segments, entry, lines } = makeSegments();
  const entries = numbered(600).map((path, index) => entry(path, index % 100 === 0 ? "modern" : "both"));
  for (const each of mixed(entries)) segments.add(each);
  equal(lines("legacy/none").length, 594);
  for (const each of entries) if (each.audience === "modern") segments.remove(each);
  lines("modern/none");
  equal(segments.collect("legacy/none").remade, 0);
  for (const [index, each] of entries.entries())
    if (each.audience === "both" && index % 10 !== 0) segments.remove(each);
  const { remade } = segments.collect("modern/none");
  ok(remade > 0);
  equal(segments.collect("legacy/none").remade, 0);
});

test("a changed key, a new one and one that is gone each cost one segment, or two where one is cut", () => {
  const { segments, entry } = makeSegments();
  const entries = numbered(10_000).map((path) => entry(path));
  for (const each of mixed(entries)) segments.add(each);
  segments.collect("modern/none");
  const [first, second] = [entries[77], entries[5000]];
  ok(first !== undefined && second !== undefined);
  segments.touch(first);
  equal(segments.collect("modern/none").remade, 1);
  segments.remove(second);
  ok(segments.collect("modern/none").remade <= 2);
  segments.add(second);
  ok(segments.collect("modern/none").remade <= 2);
});

test(`parts of random snapshots of both dialects hold what is there, and share what did not change (seed ${seed})`, () => {
  const { segments, entry, lines } = makeSegments();
  const random = randomFrom(seed);
  const long = (index: number) => `/${`${index}`.padStart(5, "0")}${"x".repeat(index % 7 === 0 ? 3000 : 300)}`;
  const live = new Map<number, Entry>();
  const change = (index: number): void => {
    const known = live.get(index);
    if (known !== undefined) segments.remove(known);
    live.delete(index);
    if (known !== undefined && random() < 0.5) return;
    const made = entry(long(index), index % 500 < 5 ? "modern" : "both");
    live.set(index, made);
    segments.add(made);
  };
  for (let index = 0; index < 4000; index += 1) change(index);
  let before = new Set<Uint8Array>();
  for (let round = 0; round < 40; round += 1) {
    const changes = round % 10 === 0 ? 300 : 3;
    for (let count = 0; count < changes; count += 1) change(Math.floor(random() * 4000));
    const variant: Variant = random() < 0.5 ? "modern/none" : "legacy/none";
    const seen = [...live.values()].filter(({ audience }) => variant === "modern/none" || audience === "both");
    deepEqual(lines(variant), seen.map(({ path, audience }) => `${path} ${audience}`).sort());
    const { parts } = segments.collect(variant);
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    ok(parts.length <= 2 + bytes / (24 * 1024), `${parts.length} parts of ${bytes} bytes`);
    if (changes === 3 && round > 5) {
      const shared = parts.filter((part) => before.has(part)).length;
      ok(shared >= parts.length - 24, `${shared} of ${parts.length} parts are those of earlier snapshots`);
    }
    before = new Set([...parts, ...segments.collect("modern/none").parts, ...segments.collect("legacy/none").parts]);
  }
});

function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/k/${`${index}`.padStart(6, "0")}`);
}

function mixed<T>(items: readonly T[]): T[] {
  const random = randomFrom(seed);
  return items
    .map((item) => ({ item, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ item }) => item);
}

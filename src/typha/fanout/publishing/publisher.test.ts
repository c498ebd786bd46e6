import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { textCodec } from "../../../../test/kit/text-codec.ts";
import { type KvUpdate, syncStatus, updateType } from "../../../calico/model/basics.ts";
import { KvCache, type Variant } from "../../cache/index.ts";
import { type Flush, noMetrics, Publisher } from "../index.ts";

const decoder = new TextDecoder();
const codec = textCodec(" ");

function set(path: string, value = "1"): KvUpdate {
  return { path, value, revision: "", v3ResourceVersion: "", type: updateType.new };
}

function gone(path: string): KvUpdate {
  return { ...set(path), value: undefined, type: updateType.deleted };
}

function newPublisher(variants: Variant[] = ["modern/none"], flushCostMs = 0) {
  const clock = new FakeClock();
  const flushes: { atMs: number; text: string; flush: Flush }[] = [];
  const sink = {
    variantsInUse: () => variants,
    oldestPosition: () => Number.POSITIVE_INFINITY,
    flushCostMs: () => flushCostMs,
    take: (_syncer: string, flush: Flush) => {
      const text = decoder.decode(flush.bytes.get("modern/none") ?? new Uint8Array()).trim();
      flushes.push({ atMs: clock.monotonicMs(), text, flush });
    },
  };
  const cache = new KvCache({
    codec,
    clock,
    legacyForm: (update) => update,
    limits: { maxStepKvs: 10, maxTombstones: 5 },
  });
  const publisher = new Publisher({
    syncer: "felix",
    cache,
    clock,
    metrics: noMetrics,
    batchingAgeMs: 10,
    messageUpdates: 100,
    sinks: new Set([sink]),
    signal: new AbortController().signal,
  });
  return { clock, flushes, publisher, cache };
}

describe("adaptive batching", () => {
  test("an idle server publishes at once", async () => {
    const { clock, flushes, publisher } = newPublisher();
    await clock.advance(1000);
    publisher.apply({ updates: [set("/a")] });
    deepEqual(
      flushes.map(({ atMs, text }) => ({ atMs, text })),
      [{ atMs: 1000, text: "/a=1" }],
    );
  });

  test("a busy one lets updates gather for a part of the batching age", async () => {
    const { clock, flushes, publisher } = newPublisher();
    for (const path of ["/a", "/b", "/c", "/d"]) {
      publisher.apply({ updates: [set(path)] });
      await clock.advance(0.4);
    }
    await clock.advance(100);
    deepEqual(
      flushes.map(({ atMs, text }) => ({ atMs, text })),
      [
        { atMs: 0, text: "/a=1" },
        { atMs: 1.4, text: "/b=1 /c=1 /d=1" },
      ],
    );
  });

  for (const { costMs, gatherMs } of [
    { costMs: 0.5, gatherMs: 1 },
    { costMs: 20, gatherMs: 5 },
    { costMs: 500, gatherMs: 100 },
  ]) {
    test(`where a flush takes ${costMs} ms to write, updates gather for ${gatherMs} ms`, async () => {
      const { clock, flushes, publisher } = newPublisher(["modern/none"], costMs);
      publisher.apply({ updates: [set("/a")] });
      await clock.advance(1);
      publisher.apply({ updates: [set("/b")] });
      await clock.advance(1000);
      deepEqual(
        flushes.map(({ atMs }) => atMs),
        [0, 1 + gatherMs],
      );
    });
  }

  test("a key that changes while updates gather is told once", async () => {
    const { clock, flushes, publisher } = newPublisher();
    for (const value of ["1", "2", "3"]) publisher.apply({ updates: [set("/a", value)] });
    await clock.advance(100);
    deepEqual(
      flushes.map(({ text }) => text),
      ["/a=1", "/a=3"],
    );
  });
});

test("a status travels only with the last part of what came before it", async () => {
  const { clock, flushes, publisher } = newPublisher();
  await clock.advance(1000);
  publisher.apply({
    updates: Array.from({ length: 25 }, (_, index) => set(`/${index}`)),
    status: syncStatus.inSync,
  });
  deepEqual(
    flushes.map(({ flush: { from, to, status } }) => ({ from, to, status })),
    [
      { from: 0, to: 10, status: 0 },
      { from: 10, to: 20, status: 0 },
      { from: 20, to: 25, status: 2 },
    ],
  );
});

test("a status by itself is published, and a repeated one is not", async () => {
  const { clock, flushes, publisher } = newPublisher();
  await clock.advance(1000);
  publisher.apply({ updates: [], status: syncStatus.inSync });
  await clock.advance(1000);
  publisher.apply({ updates: [], status: syncStatus.inSync });
  await clock.advance(1000);
  equal(flushes.length, 1);
});

test("bytes are made only for variants that somebody uses, and shared between dialects where they agree", async () => {
  const { clock, flushes, publisher } = newPublisher(["modern/none", "legacy/none"]);
  await clock.advance(1000);
  publisher.apply({ updates: [set("/a")] });
  const bytes = flushes[0]?.flush.bytes;
  deepEqual([...(bytes?.keys() ?? [])], ["modern/none", "legacy/none"]);
  equal(bytes?.get("modern/none"), bytes?.get("legacy/none"));
});

test("clients that fell behind together share one merged catch-up, until something changes", async () => {
  const { clock, publisher } = newPublisher();
  publisher.apply({ updates: [set("/a"), set("/b")] });
  const first = publisher.changes(0, "modern/none");
  equal(publisher.changes(0, "modern/none"), first);
  await clock.advance(1000);
  publisher.apply({ updates: [set("/c")] });
  const second = publisher.changes(0, "modern/none");
  equal(second === first, false);
  equal(second === "forgotten" ? "" : decoder.decode(second.bytes), "/a=1 /b=1 /c=1 ");
});

test("a catch-up carries the published status, and only where it reaches everything that was published", async () => {
  const { clock, publisher } = newPublisher();
  const statusSince = (position: number) => {
    const changes = publisher.changes(position, "modern/none");
    return changes === "forgotten" ? changes : changes.status;
  };
  publisher.apply({ updates: Array.from({ length: 15 }, (_, index) => set(`/${index}`)), status: syncStatus.inSync });
  equal(statusSince(0), undefined, "a step holds 10 of the 15");
  equal(statusSince(10), syncStatus.inSync);
  publisher.apply({ updates: [set("/more")], status: syncStatus.resyncInProgress });
  equal(statusSince(10), syncStatus.inSync, "what gathers is not published yet");
  await clock.advance(100);
  equal(statusSince(10), syncStatus.resyncInProgress);
});

for (const count of [1, 5, 6, 25]) {
  test(`${count} deletions that are not published yet, where 5 may be kept, are not forgotten`, async () => {
    const { clock, flushes, publisher } = newPublisher();
    const paths = Array.from({ length: count }, (_, index) => `/${index}`);
    publisher.apply({ updates: paths.map((path) => set(path)) });
    const before = flushes.length;
    publisher.apply({ updates: paths.map((path) => gone(path)) });
    publisher.tidy();
    await clock.advance(100);
    deepEqual(
      flushes.slice(before).flatMap(({ text }) => text.split(" ")),
      paths.map((path) => `${path}=`),
    );
  });
}

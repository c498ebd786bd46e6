import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { updateType } from "../../../calico/model/index.ts";
import { Journal } from "./journal.ts";
import { Timeline } from "./timeline.ts";

test("the timeline knows when a position was reached, exactly for recent ones and roughly for old ones", () => {
  const timeline = new Timeline();
  for (let head = 10; head <= 1_000_000; head += 10) timeline.note(head, head * 2);
  equal(timeline.timeOf(1_000_000), 2_000_000);
  equal(timeline.timeOf(999_995), 2_000_000);
  equal(timeline.timeOf(999_990), 1_999_980);
  equal(timeline.timeOf(1_000_001), undefined);
  equal(timeline.size <= 8192, true);
  const old = timeline.timeOf(500_000) ?? 0;
  equal(old >= 1_000_000 && old < 2_000_000, true);
});

test("changes within one millisecond share an entry of the timeline", () => {
  const timeline = new Timeline();
  for (let head = 1; head <= 100; head += 1) timeline.note(head, 7);
  equal(timeline.size, 1);
  equal(timeline.timeOf(50), 7);
});

test("the journal tells new, updated, deleted and invalid apart, newest first", () => {
  const journal = new Journal();
  const at = { receivedAtMs: 1, cachedAtMs: 2 };
  const base = { path: "/a", value: "x", revision: "1", v3ResourceVersion: "", type: updateType.new };
  journal.add(base, { ...at, position: 1 });
  journal.add({ ...base, type: updateType.updated }, { ...at, position: 2 });
  journal.add({ ...base, type: updateType.updated, value: undefined }, { ...at, position: 3 });
  journal.add({ ...base, path: "/b" }, { ...at, position: 4 });
  journal.add({ ...base, type: updateType.deleted, value: undefined }, { ...at, position: 5 });
  deepEqual(
    journal.of("/a").map(({ change }) => change),
    ["deleted", "invalid", "updated", "new"],
  );
});

test("the journal is bounded, and so is what it says of one key", () => {
  const journal = new Journal();
  const at = { receivedAtMs: 1, cachedAtMs: 2, position: 1 };
  const update = { path: "/a", value: "x", revision: "1", v3ResourceVersion: "", type: updateType.updated };
  for (let count = 0; count < 5000; count += 1) journal.add(update, at);
  equal(journal.of("/a").length, 20);
  for (let count = 0; count < 10_000; count += 1) journal.add({ ...update, path: "/b" }, at);
  equal(journal.of("/a").length, 0);
});

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { WriteLog } from "./write-log.ts";

const record = (to: number, clients = 2) => ({ from: to - 10, to, firstAtMs: to, lastAtMs: to + 1, clients });

test("asking since a position gives the records beyond it, oldest first", () => {
  const log = new WriteLog();
  for (const to of [10, 20, 30]) log.note(record(to));
  deepEqual(log.since(10), [record(20), record(30)]);
  deepEqual(log.since(30), []);
});

const written = (from: number, to: number, clients: number, firstAtMs: number, lastAtMs = firstAtMs) => ({
  from,
  to,
  clients,
  firstAtMs,
  lastAtMs,
});

test("a late client moves the last write of what it had missed", () => {
  const log = new WriteLog();
  for (const to of [10, 20, 30]) log.note(record(to));
  log.noteWritten(written(10, 20, 1, 500));
  deepEqual(log.since(0), [record(10), { ...record(20), lastAtMs: 500, clients: 3 }, record(30)]);
});

test("the first clients say when the first write was", () => {
  const log = new WriteLog();
  log.note(record(10, 0));
  log.noteWritten(written(0, 10, 3, 500, 502));
  deepEqual(log.since(0), [{ ...record(10, 3), firstAtMs: 500, lastAtMs: 502 }]);
});

test("who is sent several flushes at once counts for each of them", () => {
  const log = new WriteLog();
  for (const to of [10, 20, 30]) log.note(record(to, 0));
  log.noteWritten(written(0, 30, 5, 40, 41));
  deepEqual(
    log.since(0).map(({ clients, firstAtMs, lastAtMs }) => ({ clients, firstAtMs, lastAtMs })),
    [10, 20, 30].map(() => ({ clients: 5, firstAtMs: 40, lastAtMs: 41 })),
  );
});

test("old records make room for new ones", () => {
  const log = new WriteLog();
  for (let to = 1; to <= 5000; to += 1) log.note(record(to));
  const kept = log.since(0);
  equal(kept.length, 1024);
  equal(kept.at(-1)?.to, 5000);
});

test("clients add up, and none are none", () => {
  const log = new WriteLog();
  log.note(record(10, 0));
  log.noteWritten(written(0, 10, 1, 12));
  log.noteWritten(written(0, 10, 5, 14, 15));
  log.noteWritten(written(0, 10, 0, 99));
  deepEqual(log.since(0), [{ ...record(10, 6), firstAtMs: 12, lastAtMs: 15 }]);
});

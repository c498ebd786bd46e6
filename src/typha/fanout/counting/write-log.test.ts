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

test("a late client moves the last write of what it had missed", () => {
  const log = new WriteLog();
  for (const to of [10, 20, 30]) log.note(record(to));
  log.noteLate(10, 20, 500);
  deepEqual(log.since(0), [record(10), { ...record(20), lastAtMs: 500, clients: 3 }, record(30)]);
});

test("a late client is the first where no other took the flush", () => {
  const log = new WriteLog();
  log.note(record(10, 0));
  log.noteLate(0, 10, 500);
  deepEqual(log.since(0), [{ ...record(10, 1), firstAtMs: 500, lastAtMs: 500 }]);
});

test("old records make room for new ones", () => {
  const log = new WriteLog();
  for (let to = 1; to <= 5000; to += 1) log.note(record(to));
  const kept = log.since(0);
  equal(kept.length, 1024);
  equal(kept.at(-1)?.to, 5000);
});

test("those who take a flush as it is are added to those who took it in another way", () => {
  const log = new WriteLog();
  log.note(record(10, 0));
  log.noteLate(0, 10, 12);
  log.noteTaken(5, 15);
  log.noteTaken(0, 99);
  deepEqual(log.since(0), [{ ...record(10, 6), firstAtMs: 12, lastAtMs: 15 }]);
});

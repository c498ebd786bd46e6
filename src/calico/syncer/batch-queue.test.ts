import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { KvUpdate, SyncerBatch } from "../model/index.ts";
import { BatchQueue } from "./batch-queue.ts";

const update: KvUpdate = { path: "/k", value: "v", revision: "1", v3ResourceVersion: "", type: 1 };
const batch = (size: number): SyncerBatch => ({ syncer: "felix", updates: new Array<KvUpdate>(size).fill(update) });
const hasRoom = async (queue: BatchQueue) =>
  Promise.race([queue.room().then(() => true), Promise.resolve().then(() => false)]);

test("batches come out as they went in, also after many", async () => {
  const queue = new BatchQueue(10_000);
  const sizes = Array.from({ length: 500 }, (_, at) => at % 7);
  for (const size of sizes) queue.push(batch(size));
  const seen: number[] = [];
  for (let at = 0; at < sizes.length; at++) seen.push((await queue.take())?.updates.length ?? -1);
  deepEqual(seen, sizes);
  equal(queue.updates, 0);
});

test("whoever brings more than the bound waits until the reader has caught up", async () => {
  const queue = new BatchQueue(5);
  queue.push(batch(3));
  equal(await hasRoom(queue), true);
  queue.push(batch(3));
  const room = queue.room();
  let isFree = false;
  void room.then(() => {
    isFree = true;
  });
  await Promise.resolve();
  equal(isFree, false);
  await queue.take();
  await room;
});

test("closing lets the reader finish, and frees those who wait", async () => {
  const queue = new BatchQueue(1);
  queue.push(batch(2));
  const room = queue.room();
  queue.close();
  await room;
  equal((await queue.take())?.updates.length, 2);
  equal(await queue.take(), undefined);
});

test("a failure is what the reader meets after the batches before it", async () => {
  const queue = new BatchQueue(1);
  queue.push(batch(1));
  queue.fail(new Error("broken"));
  await queue.take();
  await rejects(queue.take(), /broken/);
});

import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../../cache/index.ts";
import { BorrowedSnapshots } from "./borrowed-snapshots.ts";

const snapshot: Snapshot = { variant: "modern/snappy", position: 7, keys: 0, parts: [], bytes: 0, rawBytes: 0 };

function desk() {
  const said: string[] = [];
  const answers: ((isThere: boolean) => Promise<void>)[] = [];
  const borrowed = new BorrowedSnapshots({
    ask(syncer, variant) {
      said.push(`ask ${syncer} ${variant}`);
      const { promise, resolve } = Promise.withResolvers<{ snapshot: Snapshot; lease: number } | undefined>();
      const lease = answers.length;
      answers.push(async (isThere) => {
        resolve(isThere ? { snapshot, lease } : undefined);
        await promise;
      });
      return promise;
    },
    giveBack: (lease) => said.push(`give back ${lease}`),
    noteReaders: (syncer, more) => said.push(`${more} more of ${syncer}`),
  });
  return { borrowed, said, answer: (number: number, isThere = true) => answers[number]?.(isThere) };
}

test("whoever wants the same before it is here has it too, and the last to have read it gives it back", async () => {
  const { borrowed, said, answer } = desk();
  const first = borrowed.borrow("felix", "modern/snappy");
  const second = borrowed.borrow("felix", "modern/snappy");
  const another = borrowed.borrow("felix", "modern/zstd");
  await answer(0);
  await answer(1);
  const [one, two, three] = await Promise.all([first, second, another]);
  equal(one, two);
  equal(one?.position, 7);
  deepEqual(said, ["ask felix modern/snappy", "ask felix modern/zstd", "1 more of felix"]);
  if (one !== undefined) borrowed.release(one);
  if (three !== undefined) borrowed.release(three);
  deepEqual(said.slice(3), ["give back 1"]);
  if (one !== undefined) borrowed.release(one);
  deepEqual(said.slice(3), ["give back 1", "give back 0"]);
});

test("what is wanted once it is here is asked for anew, for it may have grown old; each is given back for itself", async () => {
  const { borrowed, said, answer } = desk();
  const first = borrowed.borrow("felix", "modern/snappy");
  await answer(0);
  const one = await first;
  const second = borrowed.borrow("felix", "modern/snappy");
  await answer(1);
  const two = await second;
  notEqual(one, two);
  if (two !== undefined) borrowed.release(two);
  if (one !== undefined) borrowed.release(one);
  deepEqual(said.slice(2), ["give back 1", "give back 0"]);
});

test("of a server that stops nothing is had, and nothing given back", async () => {
  const { borrowed, said, answer } = desk();
  const first = borrowed.borrow("felix", "modern/snappy");
  await answer(0, false);
  equal(await first, undefined);
  borrowed.release(snapshot);
  deepEqual(said, ["ask felix modern/snappy"]);
});

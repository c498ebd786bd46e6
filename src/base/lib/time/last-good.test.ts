import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { LastGood, type LastGoodOptions } from "./last-good.ts";

type Read = string | Error;

/** Reads one of these after the other, the last one for ever; "worse" is refused. */
function reader(reads: readonly Read[], options: Partial<LastGoodOptions<string>> = {}) {
  const clock = new FakeClock();
  const kept: string[] = [];
  const refused: (string | undefined)[] = [];
  let count = 0;
  const source = new LastGood<string>({
    clock,
    maxAgeMs: 1000,
    read: async (given) => {
      refused.push(given);
      const next = reads[Math.min(count, reads.length - 1)] ?? "";
      count += 1;
      if (next instanceof Error) throw next;
      return next;
    },
    judge: (next, inUse) => {
      if (next === "worse") throw new Error("worse");
      return next === inUse ? "same" : "another";
    },
    onKept: (error) => kept.push(Error.prototype.toString.call(error)),
    ...options,
  });
  return { source, clock, kept, refused, count: () => count };
}

test("a value that is asked for is read once, by all who ask, and again when it is too old", async () => {
  const { source, clock, count } = reader(["a", "b"]);
  deepEqual(await Promise.all([source.current(), source.current()]), ["a", "a"]);
  await clock.advance(999);
  equal(await source.current(), "a");
  await clock.advance(1);
  equal(await source.current(), "b");
  equal(count(), 2);
});

test("a value that expires is read anew, however young it is", async () => {
  const { source, clock, count } = reader(["a"], { expiresAtMs: () => clock.wallMs() - 1 });
  await source.current();
  await source.current();
  equal(count(), 2);
});

test("what cannot be read at the start throws; later the last good one stays", async () => {
  const { source, kept } = reader([new Error("torn"), "a", new Error("torn"), "b"], { maxAgeMs: 0 });
  await rejects(source.current(), { message: "torn" });
  equal(await source.current(), "a");
  equal(await source.current(), "a");
  deepEqual(kept, ["Error: torn"]);
  equal(await source.current(), "b");
});

const outcomes: { name: string; reads: Read[]; outcomes: string[] }[] = [
  { name: "the same content is unchanged", reads: ["a", "a"], outcomes: ["unchanged", "unchanged"] },
  { name: "other content is reloaded", reads: ["b", "b"], outcomes: ["reloaded", "unchanged"] },
  {
    name: "content that is worse is kept out, until it is mended",
    reads: ["worse", "b"],
    outcomes: ["kept", "reloaded"],
  },
  { name: "what cannot be read is kept out", reads: [new Error("torn"), "a"], outcomes: ["kept", "unchanged"] },
];
for (const { name, reads, outcomes: wanted } of outcomes) {
  test(`reload: ${name}`, async () => {
    const { source } = reader(reads, { first: "a" });
    const found = [];
    for (const _ of wanted) found.push(await source.reload());
    deepEqual(found, wanted);
  });
}

test("a value that somebody refused is read anew, and its reader is told", async () => {
  const { source, refused } = reader(["a", "b"]);
  const first = await source.current();
  source.refuse(first);
  equal(await source.current(), "b");
  source.refuse(first); // an old one: nothing to do
  equal(await source.current(), "b");
  deepEqual(refused, [undefined, "a"]);
});

test("changes: each new value, of several that nobody took the newest, and no first one", async () => {
  const { source } = reader(["b", "c", "worse", "d"], { first: "a" });
  const stopping = new AbortController();
  const seen: string[] = [];
  await source.reload();
  await source.reload();
  const reading = (async () => {
    for await (const value of source.changes(stopping.signal)) seen.push(value);
  })();
  await source.reload();
  await source.reload();
  await new Promise((resolve) => setImmediate(resolve));
  stopping.abort();
  await reading;
  deepEqual(seen, ["c", "d"]);
});

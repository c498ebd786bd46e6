// Many tasks: their order, how many at a time, and what ends them early. Time is a fake one.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../../test/kit/fake-clock.ts";
import { DatastoreError } from "../../../../calico/datastore/index.ts";
import { type Outcome, runAll, type Task } from "./run-all.ts";

const silence = new DatastoreError("unavailable", "nobody there");
const told = (retryAfterMs: number) => new DatastoreError("rate-limited", "later", { retryAfterMs });

function start<T>(tasks: readonly Task<T>[], { atMost = 4, clock = new FakeClock() } = {}) {
  const stopping = new AbortController();
  const outcomes = runAll(tasks, {
    atMost,
    clock,
    signal: stopping.signal,
    random: () => 0,
    isSilence: (error) => error === silence,
  });
  return { clock, stopping, outcomes };
}

const slow = (clock: FakeClock) => (ms: number) =>
  free(async () => {
    await clock.sleep(ms);
    return ms;
  });
const free = <T>(run: () => Promise<T>): Task<T> => ({ after: [], run });
const said = <T>(outcomes: readonly Outcome<T>[]) =>
  outcomes.map((outcome) => (outcome.is === "done" ? outcome.value : outcome.is));

test("answers stand in the order of the input, whoever ends first", async () => {
  const clock = new FakeClock();
  const { outcomes } = start([30, 10, 20].map(slow(clock)), { clock });
  await clock.advance(100);
  deepEqual(said(await outcomes), [30, 10, 20]);
});

test("no more than so many at a time, and each as soon as there is room", async () => {
  const clock = new FakeClock();
  let running = 0;
  let most = 0;
  const tasks = Array.from({ length: 20 }, (_, at) =>
    free(async () => {
      most = Math.max(most, ++running);
      await clock.sleep(10);
      running--;
      return at;
    }),
  );
  const { outcomes } = start(tasks, { atMost: 3, clock });
  await clock.advance(70);
  equal((await outcomes).length, 20);
  equal(most, 3);
});

test("a task waits for those it comes after, also when they fail", async () => {
  const clock = new FakeClock();
  const log: string[] = [];
  const tasks = [
    free(async () => {
      await clock.sleep(10);
      log.push("first");
      throw new Error("no");
    }),
    { after: [0], run: async () => void log.push("second") },
    free(async () => void log.push("other")),
  ];
  const { outcomes } = start(tasks, { clock });
  await clock.advance(20);
  deepEqual(said(await outcomes), ["failed", undefined, undefined]);
  deepEqual(log, ["other", "first", "second"]);
});

test("a server that asks for time gets it from all, and then everything is done", async () => {
  const clock = new FakeClock();
  let refusals = 2;
  const askedAtMs: number[] = [];
  const task = (at: number) =>
    free(async () => {
      askedAtMs.push(clock.monotonicMs());
      if (refusals-- > 0) throw told(7000);
      return at;
    });
  const { outcomes } = start([0, 1, 2, 3, 4, 5].map(task), { atMost: 2, clock });
  await clock.advance(6999);
  equal(askedAtMs.length, 2, "nobody asks while the server wants to be left alone");
  await clock.advance(30_000);
  deepEqual(said(await outcomes), [0, 1, 2, 3, 4, 5]);
});

test("a server that never wants to be asked is believed after ten times", async () => {
  let asked = 0;
  const { clock, outcomes } = start([
    free(async () => {
      asked++;
      throw told(1000);
    }),
  ]);
  await clock.advance(600_000);
  deepEqual(said(await outcomes), ["failed"]);
  equal(asked, 10);
});

test("when nobody answers three times in a row, the rest is not tried", async () => {
  let asked = 0;
  const silent = free(async () => {
    asked++;
    throw silence;
  });
  const { outcomes } = start(
    Array.from({ length: 50 }, () => silent),
    { atMost: 1 },
  );
  const ended = await outcomes;
  equal(asked, 3);
  deepEqual(said(ended.slice(0, 4)), ["failed", "failed", "failed", "not tried"]);
  ok(ended.slice(3).every((outcome) => outcome.is === "not tried" && outcome.why.includes("no answer")));
});

test("an answer in between ends a row of silences", async () => {
  const answers = [silence, silence, undefined, silence, silence, undefined];
  const { outcomes } = start(
    answers.map((error) =>
      free(async () => {
        if (error !== undefined) throw error;
      }),
    ),
    { atMost: 1 },
  );
  ok((await outcomes).every(({ is }) => is !== "not tried"));
});

test("an interruption lets what is under way end, and nothing else begin", async () => {
  const clock = new FakeClock();
  const { stopping, outcomes } = start([100, 101, 102].map(slow(clock)), { atMost: 2, clock });
  await clock.advance(50);
  stopping.abort(130);
  await clock.advance(100);
  deepEqual(said(await outcomes), [100, 101, "not tried"]);
});

test("an interruption while the server wants to be left alone has tried nothing more", async () => {
  const { clock, stopping, outcomes } = start([free(async () => Promise.reject(told(60_000)))]);
  await clock.advance(10);
  stopping.abort(130);
  await clock.advance(10);
  deepEqual(said(await outcomes), ["not tried"]);
});

test("nothing to do is done", async () => deepEqual(await start([]).outcomes, []));

test("why the rest was not tried stays said, also when an answer comes that was under way", async () => {
  const clock = new FakeClock();
  const silent = free<number>(async () => Promise.reject(silence));
  const { outcomes } = start([slow(clock)(50), silent, silent, silent, silent], { clock });
  await clock.advance(100);
  const all = await outcomes;
  deepEqual(said(all), [50, "failed", "failed", "failed", "not tried"]);
  deepEqual(all.at(-1), { is: "not tried", why: "there was no answer 3 times in a row" });
});

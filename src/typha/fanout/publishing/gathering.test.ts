import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { Gathering } from "./gathering.ts";

/** A stream of so many updates a millisecond, published whenever it has gathered long enough. */
function afterStream(updatesPerMs: number, flushCostMs = 0): { gathering: Gathering; nowMs: number } {
  const gathering = new Gathering({ batchingAgeMs: 10, messageUpdates: 100 });
  let nowMs = 1000;
  for (let flush = 0; flush < 1000; flush += 1) {
    const gatherMs = gathering.gatherMs(flushCostMs);
    nowMs += gatherMs;
    gathering.notePublished(updatesPerMs * gatherMs, nowMs);
  }
  return { gathering, nowMs };
}

describe("updates gather", () => {
  for (const { updatesPerMs, flushCostMs, gatherMs, why } of [
    { updatesPerMs: 0.2, flushCostMs: 0, gatherMs: 1, why: "a slow stream, for a part of the batching age" },
    {
      updatesPerMs: 1,
      flushCostMs: 0,
      gatherMs: 1,
      why: "one that would fill a message too late, as little",
    },
    {
      updatesPerMs: 2,
      flushCostMs: 0,
      gatherMs: 25,
      why: "one that soon fills a message, until it has a good part of it",
    },
    { updatesPerMs: 5, flushCostMs: 0, gatherMs: 20, why: "a faster one, until it has" },
    { updatesPerMs: 150, flushCostMs: 0, gatherMs: 1, why: "one that fills several, as little" },
    { updatesPerMs: 0.2, flushCostMs: 20, gatherMs: 5, why: "where writing takes long, for a quarter of that" },
    { updatesPerMs: 2, flushCostMs: 200, gatherMs: 50, why: "where both hold, for the longer of the two" },
    { updatesPerMs: 2, flushCostMs: 500, gatherMs: 100, why: "never longer than ten batching ages" },
  ]) {
    test(`${gatherMs} ms: ${why}`, () => {
      ok(Math.abs(afterStream(updatesPerMs, flushCostMs).gathering.gatherMs(flushCostMs) - gatherMs) < 0.1);
    });
  }

  test("the first updates after a pause wait no longer for the stream that was before it", () => {
    const { gathering, nowMs } = afterStream(5);
    gathering.notePublished(1, nowMs + 1000);
    equal(gathering.gatherMs(0), 1);
  });

  test("a burst of a whole message in a slow stream is no stream", () => {
    const { gathering, nowMs } = afterStream(0.2);
    gathering.notePublished(100, nowMs + 20);
    gathering.notePublished(2, nowMs + 30);
    equal(gathering.gatherMs(0), 1);
  });

  test("bursts with gaps between them are one", () => {
    const { gathering, nowMs } = afterStream(0.2);
    for (let burst = 1; burst <= 20; burst += 1) {
      gathering.notePublished(80, nowMs + burst * 50 - 30);
      gathering.notePublished(20, nowMs + burst * 50);
    }
    const gatherMs = gathering.gatherMs(0);
    equal(gatherMs, 25);
  });

  test("a stream that ended is forgotten: what comes next is published at once", () => {
    const { gathering, nowMs } = afterStream(2);
    equal(gathering.isIdle(nowMs + 40, 0), false);
    equal(gathering.isIdle(nowMs + 60, 0), true);
  });
});

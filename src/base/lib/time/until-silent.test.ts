import { deepEqual, equal, rejects } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { untilSilent } from "./until-silent.ts";

function make() {
  const clock = new FakeClock();
  const controller = new AbortController();
  let silences = 0;
  const options = {
    clock,
    signal: controller.signal,
    silenceMs: 1000,
    what: "a test",
    error: (says: string) => Object.assign(new Error(says), { code: "unavailable" }),
    onSilence: () => {
      silences += 1;
    },
  };
  return { clock, controller, options, silences: () => silences };
}

async function* saying(items: number[], clock: FakeClock, everyMs: number, signal: AbortSignal) {
  for (const item of items) {
    await clock.sleep(everyMs, signal);
    yield item;
  }
}

test("a stream that keeps talking is left alone", async () => {
  const { clock, options, silences } = make();
  const all = Array.fromAsync(untilSilent((signal) => saying([1, 2, 3], clock, 900, signal), options));
  await clock.advance(3000);
  deepEqual([await all, silences()], [[1, 2, 3], 0]);
});

test("a stream that stops talking is hung up on", async () => {
  const { clock, options, silences } = make();
  const all = Array.fromAsync(untilSilent((signal) => saying([1], clock, 1001, signal), options));
  const refused = rejects(all, { code: "unavailable", message: "a test was silent for 1 s" });
  await clock.advance(2000);
  await refused;
  equal(silences(), 1);
});

test("a stream that can be asked is asked first, and hung up on when it does not answer", async () => {
  const { clock, options, silences } = make();
  const askedAtMs: number[] = [];
  const startMs = clock.monotonicMs();
  const ask = () => void askedAtMs.push(clock.monotonicMs() - startMs);
  const open = (signal: AbortSignal) => saying([1, 2, 3], clock, 1500, signal);
  const talks = Array.fromAsync(untilSilent(open, { ...options, ask }));
  await clock.advance(5000);
  deepEqual([await talks, silences(), askedAtMs], [[1, 2, 3], 0, [1000, 2500, 4000]]);

  const mute = (signal: AbortSignal) => saying([1], clock, 9000, signal);
  const refused = rejects(Array.fromAsync(untilSilent(mute, { ...options, ask })), {
    code: "unavailable",
    message: "a test did not answer within 1 s when asked",
  });
  await clock.advance(3000);
  await refused;
  deepEqual([silences(), askedAtMs.length], [1, 4]);
});

test("a stream that ends instead of throwing was silent all the same", async () => {
  const { clock, options } = make();
  const open = async function* (signal: AbortSignal): AsyncGenerator<number> {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  };
  const refused = rejects(Array.fromAsync(untilSilent(open, options)), { code: "unavailable" });
  await clock.advance(2000);
  await refused;
});

test("the time a slow reader takes is not the stream's silence", async () => {
  const { clock, options, silences } = make();
  const seen: number[] = [];
  const done = (async () => {
    for await (const item of untilSilent((signal) => saying([1, 2], clock, 10, signal), options)) {
      seen.push(item);
      await clock.sleep(10_000);
    }
  })();
  await clock.advance(30_000);
  await done;
  deepEqual([seen, silences()], [[1, 2], 0]);
});

test("an abort from outside comes through as it is", async () => {
  const { clock, controller, options } = make();
  const all = Array.fromAsync(untilSilent((signal) => saying([1], clock, 500, signal), options));
  const refused = rejects(all, /enough/);
  controller.abort(new Error("enough"));
  await refused;
});

test("a stream that is over leaves nothing behind in a signal that lives on", async () => {
  const { clock, controller, options } = make();
  for (let i = 0; i < 3; i++) {
    const all = Array.fromAsync(untilSilent((signal) => saying([1], clock, 1, signal), options));
    await clock.advance(1);
    await all;
  }
  equal(getEventListeners(controller.signal, "abort").length, 0);
});

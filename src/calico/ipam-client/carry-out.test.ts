// The loop: how long it waits, what it throws, and what happens when the caller's time is up.
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { type Answer, type Step, StepFailed, type Steps, TooManyConflicts } from "../ipam/index.ts";
import type { Call } from "./access.ts";
import { carryOut } from "./carry-out.ts";

const get: Step = { do: "get", ref: { kind: "handle", id: "h" } };
const update: Step = {
  do: "update",
  object: { kind: "handle", value: { id: "h", blocks: new Map(), isDeleted: false } },
  revision: "1",
};
const conflict: Answer = { is: "conflict" };
const failed: Answer = { is: "failed", error: new Error("away"), wasWritten: "perhaps" };

/** Takes these steps whatever is answered, and tells what was. */
function* taking(steps: readonly Step[]): Steps<string[]> {
  const said: string[] = [];
  for (const step of steps) said.push((yield step).is);
  return said;
}

/** A clock whose sleeps are over at once, and noted. */
function notingClock() {
  const waits: number[] = [];
  const clock = new FakeClock();
  const noting = { ...clock, wallMs: () => 0, monotonicMs: () => 0, sleep: async (ms: number) => void waits.push(ms) };
  return { clock: noting, waits };
}

async function waitsFor(steps: readonly Step[], answers: readonly Answer[]): Promise<number[]> {
  const { clock, waits } = notingClock();
  let at = 0;
  const answer = async () => answers[at++] ?? conflict;
  await carryOut(taking(steps), { answer }, { clock, random: () => 0.5 });
  return waits;
}

test("the first lost races cost no wait; then it grows, to a bound", async () => {
  const steps = new Array<Step>(14).fill(update);
  const waits = await waitsFor([...steps, get], new Array<Answer>(15).fill(conflict));
  deepEqual(waits.slice(0, 4), [2, 4, 8, 16]);
  ok(waits.every((wait) => wait <= 250));
  equal(waits.length, 12);
});

test("a write that failed is waited for before it is tried again, a read that found nothing is not", async () => {
  const waits = await waitsFor([update, update, get, get], [failed, failed, { is: "absent" }, { is: "absent" }]);
  deepEqual(waits, [62.5, 125]);
});

test("what the datastore said is thrown, not that a step failed", async () => {
  const says = new Error("the server is away");
  function* failing(): Steps<void> {
    const answer = yield get;
    throw new StepFailed(get, answer.is === "failed" ? answer.error : undefined);
  }
  const answer = async (): Promise<Answer> => ({ is: "failed", error: says, wasWritten: "no" });
  const { clock } = notingClock();
  await rejects(carryOut(failing(), { answer }, { clock, random: Math.random }), says);
});

test("who lost every race is told in the original's words, with what to do", async () => {
  // biome-ignore lint/correctness/useYield: it gives up before its first step
  function* losing(): Steps<void> {
    throw new TooManyConflicts();
  }
  const { clock } = notingClock();
  const answer = async () => conflict;
  await rejects(carryOut(losing(), { answer }, { clock, random: Math.random }), {
    code: "busy",
    message: "Max retries hit - excessive concurrent IPAM requests",
  });
});

test("after the caller's time is up, what is left to be done has a time of its own", async () => {
  const controller = new AbortController();
  const signals: (AbortSignal | undefined)[] = [];
  const answer = async (_step: Step, { signal }: Call): Promise<Answer> => {
    signals.push(signal);
    if (signals.length === 1) return { is: "absent" };
    controller.abort(new Error("too late"));
    return signal?.aborted
      ? { is: "failed", error: signal.reason, wasWritten: "no" }
      : { is: "written", revision: "2" };
  };
  const { clock } = notingClock();
  await carryOut(taking([get, update, update]), { answer }, { clock, random: () => 0, signal: controller.signal });
  deepEqual(
    signals.map((signal) => signal === controller.signal),
    [true, true, false],
  );
  equal(signals[2]?.aborted, false);
});

// Does a verb to all objects of an input: at the same time where their order does not matter, with the outcome of each in
// the order of the input.
import { type Clock, systemClock } from "../../../../base/lib/index.ts";
import type { Resources } from "../../../../calico/resources/index.ts";
import { isSilence } from "../said/reasons.ts";
import { nameOf, type Target } from "../targets/targets.ts";
import { type OrderedVerb, predecessors } from "./order.ts";
import { type Outcome, runAll } from "./run-all.ts";

/** Requests under way. An API server on the same two cores is busy with eight; more only wait in its queue (bench/ctl). */
const usualMost = 8;

/** What is under way at an interruption may still end: half a write is worse than a second more. */
const graceMs = 3000;

export type Doing<T> = (target: Target, signal: AbortSignal) => Promise<T>;

export type DoingOptions<T> = {
  readonly signal: AbortSignal;
  readonly doing: Doing<T>;
  readonly clock?: Clock;
  /** At the same time. */
  readonly atMost?: number;
};

export async function forEachTarget<T>(
  verb: OrderedVerb,
  targets: readonly Target[],
  { signal, doing, clock = systemClock, atMost = usualMost }: DoingOptions<T>,
): Promise<readonly Outcome<T>[]> {
  const before = predecessors(verb, targets);
  const [late, done] = afterGrace(signal);
  try {
    const tasks = targets.map((target, at) => ({ after: before[at] ?? [], run: () => doing(target, late) }));
    return await runAll(tasks, { atMost, signal, clock, random: Math.random, isSilence });
  } finally {
    done();
  }
}

/** A signal that follows another one later. */
function afterGrace(signal: AbortSignal): [late: AbortSignal, done: () => void] {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => late.abort(signal.reason), graceMs);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return [
    late.signal,
    () => {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    },
  ];
}

/**
 * What became of an object whose write got no answer, as far as one more question tells. The original says nothing of it,
 * and leaves people with an object that may be there.
 */
export async function fateOf(
  verb: string,
  target: Target,
  resources: Resources,
): Promise<{ readonly text: string; readonly isKnown: boolean }> {
  const known = (text: string) => ({ text, isKnown: true });
  const name = nameOf(target);
  const { kind, id } = target;
  try {
    const { spec } = await resources.get(kind, id, { signal: AbortSignal.timeout(graceMs) });
    if (verb !== "delete") return known(`${name} is there now: look whether it is what you want`);
    // The first step of deleting a pool.
    const isHalf = kind === "IPPool" && spec.disabled === true;
    return known(isHalf ? `${name} is still there, and disabled` : `${name} is still there`);
  } catch (error) {
    if (isSilence(error)) return { text: `whether ${name} was changed is not known`, isKnown: false };
    return known(verb === "delete" ? `${name} is gone` : `${name} is not there`);
  }
}

// How long updates gather before they are published. The write to each socket is the floor of what an update costs, so a
// busy server lets them travel together:
//   - at least for a part of the batching age;
//   - for longer where writing to everybody takes long (many clients, a busy machine), so that a round of turns (pace.ts)
//     finds a few flushes to send and not dozens;
//   - for longer while they come so fast that much of a message soon gathers, which costs little more than a part of one.
import { RecentRate } from "../../../base/lib/index.ts";

/** Of what writing to everybody takes. */
const roundShare = 0.25;
/** In batching ages: the shortest that updates gather. What comes at the same moment still travels together. */
const shortestGather = 0.1;
/** In batching ages: after so long without a flush nothing is likely to come that an update could travel with. */
const idleAfter = 2;
/** In batching ages: the longest that updates gather, whatever a flush costs. */
const longestGather = 10;
/** In batching ages: the longest that is waited for a message to fill. */
const longestFilling = 2.5;
/** In batching ages: a stream that needs longer than this to fill one is not held up for it. */
const slowestFilling = 7;
/** In batching ages: how long the rate of a stream is remembered. */
const rateMemory = 10;

export class Gathering {
  readonly #batchingAgeMs: number;
  readonly #messageUpdates: number;
  readonly #updates: RecentRate;

  constructor(options: { batchingAgeMs: number; messageUpdates: number }) {
    this.#batchingAgeMs = options.batchingAgeMs;
    this.#messageUpdates = options.messageUpdates;
    this.#updates = new RecentRate(rateMemory * options.batchingAgeMs);
  }

  notePublished(updates: number, nowMs: number): void {
    this.#updates.note(updates, nowMs);
  }

  isIdle(nowMs: number, flushCostMs: number): boolean {
    return nowMs - this.#updates.lastMs >= Math.max(idleAfter * this.#batchingAgeMs, 2 * this.gatherMs(flushCostMs));
  }

  gatherMs(flushCostMs: number): number {
    const age = this.#batchingAgeMs;
    const fillingMs = this.#messageUpdates / this.#updates.perMs; // infinite while nothing comes
    const waitsToFill = fillingMs <= slowestFilling * age;
    const wantedMs = Math.max(roundShare * flushCostMs, waitsToFill ? Math.min(fillingMs, longestFilling * age) : 0);
    return Math.min(Math.max(shortestGather * age, wantedMs), longestGather * age);
  }
}

// How much of a thread's time goes into writing to clients. Where all of them can be written to in that time, they are, at once. Where
// they cannot, they take turns, and a moment passes between some and the next: what each is sent later is not written to it twice.
//
//   few clients:   ▮▮▮······················▮▮▮···········   a flush, everybody
//   many:          ▮▮··▮▮··▮▮··▮▮··▮▮··▮▮··▮▮··▮▮··▮▮··▮▮·   and whoever's turn comes gets all that was published since the last
//
// Credit grows with time and is spent on writing. An idle thread has gathered what one round costs, so its next change
// goes to everybody at once.

/** Of a thread's time. More of it makes every update cost more CPU, less of it makes updates late (bench/fanout). */
const writingShare = 0.3;
/** A round of turns takes at most so much longer than the writing itself, whatever that costs. */
const longestPausesMs = 100;
/** What is written between two pauses: shorter ones a timer cannot keep. */
const sliceMs = 1;
/** What took longer was not writing: the thread was not let run, or it collected garbage. */
const mostDebtMs = 1;
/** An idle thread has at least so much, also before it knows what a round costs. */
const leastBurstMs = 5;

export class Pace {
  #creditMs = leastBurstMs;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  /** How long may be written from now on; `roundMs` is what it takes to write to everybody. */
  allowanceMs(nowMs: number, roundMs: number): number {
    const earnedMs = (nowMs - this.#countedAtMs) * shareOf(roundMs);
    this.#creditMs = Math.min(this.#creditMs + earnedMs, Math.max(leastBurstMs, roundMs));
    this.#countedAtMs = nowMs;
    return this.#creditMs;
  }

  spend(ms: number): void {
    this.#creditMs = Math.max(-mostDebtMs, this.#creditMs - ms);
  }

  /** How long until a slice may be written. */
  pauseMs(roundMs: number): number {
    return Math.max(0, sliceMs - this.#creditMs) / shareOf(roundMs);
  }
}

function shareOf(roundMs: number): number {
  return Math.max(writingShare, roundMs / (roundMs + longestPausesMs));
}

// Keeps the page cheap whatever it shows: an answer that took long to make is given again for a while before it is made
// anew, by default 150 times as long as it took. So no question costs more than two thirds of a percent of a core, however
// many pages ask it and however large the cluster is.

/** How long an answer is given again. */
export type Pace = {
  /** At least this long. */
  readonly leastMs: number;
  readonly mostMs: number;
  /** So many times as long as it took to make. */
  readonly timesCost: number;
  /** From when this counts. Who asks regularly waits less if it is from the question on. */
  readonly since: "asked" | "answered";
};

export const paces = {
  /** Pages ask about once a second. */
  byCost: { leastMs: 500, mostMs: 10_000, timesCost: 150, since: "answered" },
  /** The answer waits for others, so its time is no measure of its work; whoever makes it keeps it cheap. */
  bySource: { leastMs: 500, mostMs: 500, timesCost: 0, since: "answered" },
} as const satisfies { [name: string]: Pace };

/** Beyond it the longest unused goes. */
const mostAnswers = 16;

export type PacedAnswer<T> = { readonly value: T; readonly number: number };

export class Paced<T> {
  readonly #nowMs: () => number;
  readonly #answers = new Map<string, { answer: Promise<PacedAnswer<T>>; freshUntilMs: number }>();
  #count = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get(question: string, make: () => Promise<T>, pace: Pace = paces.byCost): Promise<PacedAnswer<T>> {
    const known = this.#answers.get(question);
    if (known !== undefined && this.#nowMs() < known.freshUntilMs) return known.answer;
    this.#answers.delete(question);
    // Everybody who asks while it is being made waits for the same one.
    const entry = { answer: this.#make(question, make, pace), freshUntilMs: Number.POSITIVE_INFINITY };
    this.#answers.set(question, entry);
    for (const [oldest] of this.#answers) if (this.#answers.size > mostAnswers) this.#answers.delete(oldest);
    return entry.answer;
  }

  async #make(question: string, make: () => Promise<T>, pace: Pace): Promise<PacedAnswer<T>> {
    const startMs = this.#nowMs();
    this.#count += 1;
    const number = this.#count;
    try {
      const value = await make();
      const endMs = this.#nowMs();
      const waitMs = Math.min(pace.mostMs, Math.max(pace.leastMs, (endMs - startMs) * pace.timesCost));
      const entry = this.#answers.get(question);
      if (entry !== undefined) entry.freshUntilMs = (pace.since === "asked" ? startMs : endMs) + waitMs;
      return { value, number };
    } catch (error) {
      this.#answers.delete(question);
      throw error;
    }
  }
}

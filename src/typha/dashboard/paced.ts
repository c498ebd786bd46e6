// Keeps the page cheap whatever it shows: an answer that took long to make is given again for a while before it is made
// anew, 150 times as long as it took. So no question costs more than two thirds of a percent of a core, however many
// pages ask it and however large the cluster is.

/** Given again for at least this long: pages ask about once a second. */
const leastMs = 500;
const mostMs = 10_000;
const timesCost = 150;
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

  /** "source": the answer waits for others, so its time is no measure of its work; whoever makes it keeps it cheap. */
  get(question: string, make: () => Promise<T>, pacedBy: "cost" | "source" = "cost"): Promise<PacedAnswer<T>> {
    const known = this.#answers.get(question);
    if (known !== undefined && this.#nowMs() < known.freshUntilMs) return known.answer;
    this.#answers.delete(question);
    // Everybody who asks while it is being made waits for the same one.
    const entry = { answer: this.#make(question, make, pacedBy), freshUntilMs: Number.POSITIVE_INFINITY };
    this.#answers.set(question, entry);
    for (const [oldest] of this.#answers) if (this.#answers.size > mostAnswers) this.#answers.delete(oldest);
    return entry.answer;
  }

  async #make(question: string, make: () => Promise<T>, pacedBy: "cost" | "source"): Promise<PacedAnswer<T>> {
    const startMs = this.#nowMs();
    this.#count += 1;
    const number = this.#count;
    try {
      const value = await make();
      const endMs = this.#nowMs();
      const costMs = pacedBy === "cost" ? endMs - startMs : 0;
      const waitMs = Math.min(mostMs, Math.max(leastMs, costMs * timesCost));
      const entry = this.#answers.get(question);
      if (entry !== undefined) entry.freshUntilMs = endMs + waitMs;
      return { value, number };
    } catch (error) {
      this.#answers.delete(question);
      throw error;
    }
  }
}

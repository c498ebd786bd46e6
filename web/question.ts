// One address that is asked again and again, once at a time: an answer that takes longer than the time between two
// questions is waited for, or it would never be here.

export type Reply = { readonly is: "here"; readonly value: unknown } | { readonly is: "failed"; readonly why: string };

/** Only a connection that died without a word takes so long. */
const patienceMs = 30_000;

export class Question {
  readonly #path: string;
  readonly #tell: (reply: Reply) => void;
  readonly #dropped = new AbortController();
  #isAsking = false;
  #isDue = false;

  constructor(path: string, tell: (reply: Reply) => void) {
    this.#path = path;
    this.#tell = tell;
  }

  /** While an answer is under way: asks once more when it is here, however often it was called meanwhile. */
  async ask(): Promise<void> {
    this.#isDue = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#isDue && !this.#dropped.signal.aborted) {
      this.#isDue = false;
      const reply = await this.#reply();
      if (!this.#dropped.signal.aborted) this.#tell(reply);
    }
    this.#isAsking = false;
  }

  /** Nobody wants the answer any more. */
  drop(): void {
    this.#dropped.abort();
  }

  async #reply(): Promise<Reply> {
    const tooLong = AbortSignal.timeout(patienceMs);
    try {
      const response = await fetch(this.#path, { signal: AbortSignal.any([this.#dropped.signal, tooLong]) });
      if (!response.ok) return failed((await response.text()) || `the server answered ${response.status}`);
      return { is: "here", value: await response.json() };
    } catch (error) {
      if (tooLong.aborted) return failed(`nothing came within ${patienceMs / 1000} s`);
      return failed(error instanceof Error ? error.message : String(error));
    }
  }
}

function failed(why: string): Reply {
  return { is: "failed", why };
}

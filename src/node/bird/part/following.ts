// Something that is followed while it is needed: at most once at a time, and what ends it is told, unless it was stopped.
export class Following {
  readonly #run: (signal: AbortSignal) => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #running: AbortController | undefined;

  constructor(run: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void) {
    this.#run = run;
    this.#failed = failed;
  }

  start(): void {
    if (this.#running !== undefined) return;
    const running = new AbortController();
    this.#running = running;
    this.#run(running.signal).catch((error: unknown) => {
      if (!running.signal.aborted) this.#failed(error);
    });
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }
}

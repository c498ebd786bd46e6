// The queue before each log destination: a hundred lines, then lines are dropped and counted, and the next that fits is
// preceded by how many. A destination that is stuck costs its own lines and nothing else.
export type LogSink = {
  /** Resolves when the destination can take more. Rejects when the text could not be written. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
};

export type LogQueueCounts = { dropped(count: number): void; failed(): void };

const logQueueLines = 100;

export class LogQueue {
  readonly #sink: LogSink;
  readonly #options: { readonly counts: LogQueueCounts; readonly isBounded: boolean };
  readonly #waiting: string[] = [];
  #dropped = 0;
  /** Lines that are done with, written or failed. */
  done = 0;
  #pumping: Promise<void> | undefined;

  constructor(sink: LogSink, options: { readonly counts: LogQueueCounts; readonly isBounded: boolean }) {
    this.#sink = sink;
    this.#options = options;
  }

  push(line: string): void {
    const { counts, isBounded } = this.#options;
    // "Wait for a slow destination" cannot block a thread that must serve; it keeps the lines instead.
    if (this.#waiting.length >= (isBounded ? logQueueLines : 100 * logQueueLines)) {
      this.#dropped += 1;
      counts.dropped(1);
      return;
    }
    if (this.#dropped > 0) this.#waiting.push(`... dropped ${this.#dropped} logs ...\n`);
    this.#dropped = 0;
    this.#waiting.push(line);
    this.#pumping ??= this.#pump();
  }

  /** When everything pushed so far has been written or has failed. */
  async flush(): Promise<void> {
    await this.#pumping;
  }

  /** Lines that are still waiting are given up: flush first, for as long as there is time. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    await this.#sink.close();
  }

  async #pump(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The line stays in the queue while it is written, so that the bound counts it.
      try {
        await this.#sink.write(this.#waiting[0] ?? "");
      } catch {
        this.#options.counts.failed();
      }
      this.#waiting.shift();
      this.done += 1;
    }
    this.#pumping = undefined;
  }
}

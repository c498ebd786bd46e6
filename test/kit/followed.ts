// A consumer of follow() for tests: keeps what it was told and waits for what is to come.

import { syncStatus } from "../../src/calico/model/index.ts";
import { type FollowOptions, follow, type Update } from "../../src/typha/client/index.ts";

export class Followed implements AsyncDisposable {
  readonly updates: Update[] = [];
  readonly state = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => undefined;
  failure: unknown;

  constructor(options: FollowOptions) {
    this.#done = this.#follow(options);
  }

  get statuses(): number[] {
    return this.updates.flatMap((update) => (update.is === "status" ? [update.status] : []));
  }

  async until(isReached: () => boolean, what: string, deadlineMs = 120_000): Promise<void> {
    const endMs = performance.now() + deadlineMs;
    while (!isReached()) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0 || this.failure !== undefined) {
        throw new Error(`waited in vain for ${what}; last: ${JSON.stringify(this.updates.slice(-5))}`, {
          cause: this.failure,
        });
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, leftMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  inSync(times = 1): Promise<void> {
    const isReached = () => this.statuses.filter((status) => status === syncStatus.inSync).length >= times;
    return this.until(isReached, `in sync ${times} times`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #follow(options: FollowOptions): Promise<void> {
    try {
      for await (const update of follow({ ...options, signal: this.#stop.signal })) {
        this.updates.push(update);
        if (update.is === "set") this.state.set(update.path, update.value);
        if (update.is === "delete") this.state.delete(update.path);
        this.#wake();
      }
    } catch (error) {
      this.failure = error;
    }
    this.#wake();
  }
}

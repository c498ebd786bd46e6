// A live Map of everything a Typha serves, kept by following it: for programs that ask rather than listen.
import { syncStatus } from "../model/index.ts";
import { followBatches } from "./follow.ts";
import type { FollowOptions } from "./follow-options.ts";
import type { SetUpdate, Update } from "./update.ts";

export class Snapshot implements AsyncDisposable {
  readonly #values = new Map<string, SetUpdate>();
  readonly #stop = new AbortController();
  readonly #inSync = Promise.withResolvers<void>();
  readonly #following: Promise<void>;

  /** Starts following at once. */
  static open(options: FollowOptions): Snapshot {
    return new Snapshot(options);
  }

  private constructor(options: FollowOptions) {
    const signal = AbortSignal.any([this.#stop.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    this.#following = this.#follow({ ...options, signal });
    // Whoever waits for inSync() hears of the failure there; nobody has to wait.
    this.#inSync.promise.catch(() => undefined);
  }

  get values(): ReadonlyMap<string, SetUpdate> {
    return this.#values;
  }

  /** Resolves once everything the server had is here; rejects if following ends before that. */
  inSync(): Promise<void> {
    return this.#inSync.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(options: FollowOptions): Promise<void> {
    try {
      for await (const batch of followBatches(options)) for (const update of batch) this.#take(update);
      this.#inSync.reject(options.signal?.reason);
    } catch (error) {
      this.#inSync.reject(error);
    }
  }

  #take(update: Update): void {
    if (update.is === "set") this.#values.set(update.path, update);
    else if (update.is === "delete") this.#values.delete(update.path);
    else if (update.status === syncStatus.inSync) this.#inSync.resolve();
  }
}

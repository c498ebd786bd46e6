// A live Map of everything a Typha serves, kept by following it: for programs that ask rather than listen.
import { type SyncStatus, syncStatus } from "../../calico/model/basics.ts";
import { followBatches } from "./follow.ts";
import { type FollowOptions, withDefaults } from "./options/follow-options.ts";
import type { ProblemUpdate, SetUpdate, Update } from "./update.ts";

type Values = ReadonlyMap<string, SetUpdate>;
type Waiter = { readonly isSo: (values: Values) => boolean; readonly answer: PromiseWithResolvers<void> };

/** The snapshot of a server, kept up to date by its changes: a live map. Dispose of it to disconnect. */
export class Snapshot implements AsyncDisposable {
  readonly #values = new Map<string, SetUpdate>();
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;
  readonly #waiters = new Set<Waiter>();
  #status: SyncStatus = syncStatus.waitForDatastore;
  #problem: ProblemUpdate | undefined;
  #wasInSync = false;
  #ended: { readonly why: unknown } | undefined;

  /** Starts following at once. */
  static open(options: FollowOptions): Snapshot {
    return new Snapshot(options);
  }

  private constructor(options: FollowOptions) {
    withDefaults(options); // checks them now, because nobody may ever wait for what following says
    const signal = AbortSignal.any([this.#stop.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    this.#following = this.#follow({ ...options, signal });
  }

  /** By path. After a lost connection it keeps what it has until the next server has told everything. */
  get values(): Values {
    return this.#values;
  }

  /** How far the present connection is; `waitForDatastore` while there is none. */
  get status(): SyncStatus {
    return this.#status;
  }

  /** Why there is no connection, as the last attempt has found; undefined while there is one. */
  get problem(): ProblemUpdate | undefined {
    return this.#problem;
  }

  /** Resolves once everything a server had has been here; rejects if following ends before that. */
  inSync(): Promise<void> {
    return this.until(() => this.#wasInSync);
  }

  /** Resolves when the values are so, now or after a change; rejects if following ends before that. */
  async until(isSo: (values: Values) => boolean): Promise<void> {
    if (isSo(this.#values)) return;
    if (this.#ended !== undefined) throw this.#ended.why;
    const waiter: Waiter = { isSo, answer: Promise.withResolvers() };
    this.#waiters.add(waiter);
    await waiter.answer.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(options: FollowOptions & { readonly signal: AbortSignal }): Promise<void> {
    try {
      for await (const batch of followBatches({ ...options, withProblems: true })) {
        for (const update of batch) this.#take(update);
        this.#wakeWaiters();
      }
      this.#end(options.signal.reason);
    } catch (error) {
      this.#end(error);
    }
  }

  #take(update: Update | ProblemUpdate): void {
    if (update.is === "set") this.#values.set(update.path, update);
    else if (update.is === "delete") this.#values.delete(update.path);
    else if (update.is === "problem") this.#problem = update;
    else {
      this.#status = update.status;
      // What follows a loss only says that there is no connection, and the problem why.
      if (update.status !== syncStatus.waitForDatastore) this.#problem = undefined;
      this.#wasInSync ||= update.status === syncStatus.inSync;
    }
  }

  #wakeWaiters(): void {
    for (const waiter of this.#waiters) {
      try {
        if (!waiter.isSo(this.#values)) continue;
        waiter.answer.resolve();
      } catch (error) {
        waiter.answer.reject(error); // its own question failed; the others still want their answers
      }
      this.#waiters.delete(waiter);
    }
  }

  #end(why: unknown): void {
    this.#ended = { why };
    this.#status = syncStatus.waitForDatastore;
    for (const { answer } of this.#waiters) answer.reject(why);
    this.#waiters.clear();
  }
}

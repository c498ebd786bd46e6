// The lock that all plugins of a host take while they work on addresses, the original's among them. It only saves conflicts, which
// are met by comparing and swapping; so a host where it cannot be had works nevertheless.
//
// A program for one call waits for it in the kernel's line. One that stays must not: it looks again and again, for a while, and its
// calls share the lock, so that they can share writes. Calls that come late wait for the next turn, so that others get one in between.
//
//   call ─▶ turn (open for openMs) ◀─ calls that come meanwhile        lock is let go when the last of them is done
import { type Clock, messageOf } from "../../base/lib/index.ts";
import { tryFlock, waitForFlock } from "../../base/linux/files.ts";
import { timeLimit } from "./time-limit.ts";

/** Counted from when we have the lock. */
const limitMs = 90_000;

type Work<T> = (signal: AbortSignal) => Promise<T>;

export async function withBlockingLock<T>(path: string, warn: (text: string) => void, work: Work<T>): Promise<T> {
  using _held = waitedFor(path, warn);
  using limit = timeLimit(limitMs);
  return await work(limit.signal);
}

function waitedFor(path: string, warn: (text: string) => void): Disposable | undefined {
  try {
    return waitForFlock(path);
  } catch (error) {
    warn(cannotBeHad(path, error));
    return undefined;
  }
}

type Turn = {
  readonly untilMs: number;
  users: number;
  lock: Disposable | undefined;
  readonly taken: Promise<void>;
  readonly over: PromiseWithResolvers<void>;
};

const openMs = 100;
const lookAgainMs = 3;
/** Somebody who holds it longer waits for a datastore, and we may do so beside him. */
const patienceMs = 5_000;

export class SharedHostLock {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #warn: (text: string) => void;
  #turn: Turn | undefined;

  constructor(path: string, { clock, warn }: { readonly clock: Clock; readonly warn: (text: string) => void }) {
    this.#path = path;
    this.#clock = clock;
    this.#warn = warn;
  }

  async with<T>(work: Work<T>): Promise<T> {
    const turn = await this.#join();
    try {
      await turn.taken;
      using limit = timeLimit(limitMs);
      return await work(limit.signal);
    } finally {
      turn.users -= 1;
      if (turn.users === 0) this.#end(turn);
    }
  }

  async #join(): Promise<Turn> {
    for (let turn = this.#turn; turn !== undefined; turn = this.#turn) {
      if (this.#clock.monotonicMs() < turn.untilMs) {
        turn.users += 1;
        return turn;
      }
      await turn.over.promise;
    }
    return this.#open();
  }

  #open(): Turn {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const turn: Turn = { untilMs: this.#clock.monotonicMs() + openMs, users: 1, lock: undefined, taken, over };
    this.#turn = turn;
    void this.#take(turn).then(resolve);
    return turn;
  }

  /** Never fails: without the lock the work is done as well. */
  async #take(turn: Turn): Promise<void> {
    try {
      const startMs = this.#clock.monotonicMs();
      while (this.#clock.monotonicMs() - startMs < patienceMs) {
        turn.lock = tryFlock(this.#path);
        if (turn.lock !== undefined) return;
        await this.#clock.sleep(lookAgainMs);
      }
      this.#warn(`the host's lock ${this.#path} was not free within ${patienceMs} ms, and is done without`);
    } catch (error) {
      this.#warn(cannotBeHad(this.#path, error));
    }
  }

  #end(turn: Turn): void {
    turn.lock?.[Symbol.dispose]();
    this.#turn = undefined;
    turn.over.resolve();
  }
}

function cannotBeHad(path: string, error: unknown): string {
  return `the host's lock ${path} cannot be had, and is done without: ${messageOf(error)}`;
}

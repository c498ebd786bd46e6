// Asks nodes one after the other for as long as somebody looks, and remembers what each said last. So many at a time and so many a second, whatever the
// number of nodes: with thousands a round takes longer, and the server does not.
import { type Clock, messageOf } from "../../../base/lib/index.ts";

export type Target = { readonly node: string; readonly address: string };

export type Heard<T> = {
  /** The last answer, also where the node does not answer any more. */
  readonly value?: T;
  readonly atMs?: number;
  /** Why the last question had no answer, and since when that is so. */
  readonly problem?: { readonly why: string; readonly sinceMs: number };
};

export type SweepOptions<T> = {
  /** Rejects with an Error that says why there is no answer. */
  readonly ask: (target: Target) => Promise<T>;
  readonly clock: Clock;
  /** A node is asked again after this, if there are not too many. */
  readonly everyMs: number;
};

const mostAtATime = 16;
const pauseMs = 20;
const idleMs = 250;
/** Somebody who looks asks more often than this. */
const lookedForMs = 15_000;
/** One that did not answer is asked less often. */
const afterFailureMs = 10_000;

type Known<T> = { heard: Heard<T>; dueMs: number; asking: Promise<void> | undefined };

export class Sweep<T> {
  readonly #options: SweepOptions<T>;
  readonly #known = new Map<string, Known<T>>();
  #targets: readonly Target[] = [];
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  #asking = 0;

  constructor(options: SweepOptions<T>) {
    this.#options = options;
  }

  /** What is known now; what is not, or is old, is asked for meanwhile. */
  look(targets: readonly Target[]): ReadonlyMap<string, Heard<T>> {
    this.#targets = targets;
    this.#lookedAtMs = this.#options.clock.monotonicMs();
    const names = new Set(targets.map(({ node }) => node));
    for (const node of this.#known.keys()) if (!names.has(node)) this.#known.delete(node);
    if (!this.#isRunning) void this.#run();
    return new Map([...this.#known].map(([node, { heard }]) => [node, heard]));
  }

  /** Of one node, asked for if what is known is older than this. */
  async one(target: Target, mostMs: number): Promise<Heard<T>> {
    const known = this.#of(target);
    const isFresh = known.heard.atMs !== undefined && this.#options.clock.wallMs() - known.heard.atMs < mostMs;
    const hasFailed = known.heard.problem !== undefined && this.#options.clock.monotonicMs() < known.dueMs;
    if (!isFresh && !hasFailed) await this.#ask(target, known);
    return known.heard;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    this.#isRunning = true;
    try {
      while (clock.monotonicMs() - this.#lookedAtMs < lookedForMs) {
        const nowMs = clock.monotonicMs();
        const due = this.#asking < mostAtATime ? this.#mostDue(nowMs) : undefined;
        if (due !== undefined) void this.#ask(due, this.#of(due));
        await clock.sleep(due === undefined ? idleMs : pauseMs);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #mostDue(nowMs: number): Target | undefined {
    let most: { target: Target; dueMs: number } | undefined;
    for (const target of this.#targets) {
      const { dueMs, asking } = this.#of(target);
      if (asking === undefined && dueMs <= nowMs && dueMs < (most?.dueMs ?? Number.POSITIVE_INFINITY))
        most = { target, dueMs };
    }
    return most?.target;
  }

  #of({ node }: Target): Known<T> {
    const known = this.#known.get(node) ?? { heard: {}, dueMs: 0, asking: undefined };
    this.#known.set(node, known);
    return known;
  }

  #ask(target: Target, known: Known<T>): Promise<void> {
    known.asking ??= this.#asked(target, known).finally(() => {
      known.asking = undefined;
    });
    return known.asking;
  }

  async #asked(target: Target, known: Known<T>): Promise<void> {
    const { ask, clock, everyMs } = this.#options;
    this.#asking += 1;
    try {
      known.heard = { value: await ask(target), atMs: clock.wallMs() };
      known.dueMs = clock.monotonicMs() + everyMs;
    } catch (error) {
      const sinceMs = known.heard.problem?.sinceMs ?? clock.wallMs();
      known.heard = { ...known.heard, problem: { why: messageOf(error), sinceMs } };
      known.dueMs = clock.monotonicMs() + Math.max(everyMs, afterFailureMs);
    } finally {
      this.#asking -= 1;
    }
  }
}

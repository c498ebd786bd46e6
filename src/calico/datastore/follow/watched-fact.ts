// Something that is read about the cluster, kept until a watch says that it may have changed. The watch is only a sign: what the fact
// is now is read again when somebody next needs it, in the one way in which it is always read. While there is no watch, nothing
// is kept. So a fact is as old as the watch's delay at most, and its memory is that of the fact, not of the watch.
import { Backoff, type Clock, untilSilent } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { Reader, Revision, Within } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";

export type FactSource<T> = {
  readonly datastore: Reader;
  readonly kind: Kind;
  /** Whose changes count; the narrower, the less is heard. */
  readonly within?: Within;
  readonly read: (signal: AbortSignal | undefined) => Promise<T>;
};

export type FactEdge = { readonly clock: Clock; readonly random: () => number; readonly signal: AbortSignal };

/** Longer than bookmarks take, which come about once a minute. */
const silenceMs = 150_000;
const firstWaitMs = 500;
const longestWaitMs = 30_000;

export class WatchedFact<T> {
  readonly #source: FactSource<T>;
  #isWatched = false;
  /** Changes that were heard of; what was read before the last one is old. */
  #changes = 0;
  #known: { readonly value: Promise<T>; readonly at: number } | undefined;

  constructor(source: FactSource<T>) {
    this.#source = source;
  }

  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** One who asks while another is reading waits for the same answer. */
  value(signal: AbortSignal | undefined): Promise<T> {
    if (!this.#isWatched) return this.#source.read(signal);
    if (this.#known?.at === this.#changes) return this.#known.value;
    // Shared by others, so that nobody's end may end it.
    const known = { value: this.#source.read(undefined), at: this.#changes };
    this.#known = known;
    known.value.catch(() => {
      if (this.#known === known) this.#known = undefined;
    });
    return known.value;
  }

  /** For who knows better, because he wrote it himself. */
  changed(): void {
    this.#changes += 1;
    this.#known = undefined;
  }

  /** Until the signal aborts. */
  async watch({ clock, random, signal }: FactEdge): Promise<void> {
    const backoff = new Backoff(random, { capMs: longestWaitMs, retryAfterCapMs: longestWaitMs, spread: "half" });
    while (!signal.aborted) {
      try {
        const from = await this.#start(signal);
        backoff.reset();
        await this.#hear(from, clock, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof DatastoreError)) throw error;
      } finally {
        this.#isWatched = false;
        this.changed();
      }
      await clock.sleep(backoff.nextDelayMs(firstWaitMs), signal).catch(() => undefined);
    }
  }

  /** From where a watch hears all that is not yet in what is read from now on. */
  async #start(signal: AbortSignal): Promise<Revision> {
    const { datastore, kind } = this.#source;
    let revision: Revision | undefined;
    for await (const page of datastore.list(kind, { signal, ...this.#within() })) revision = page.revision;
    if (revision === undefined) throw new DatastoreError("invalid", `a list of ${kind} came without a page`);
    return revision;
  }

  async #hear(from: Revision, clock: Clock, signal: AbortSignal): Promise<void> {
    const { datastore, kind } = this.#source;
    const open = (until: AbortSignal) => datastore.watch(kind, { from, signal: until, ...this.#within() });
    const error = (says: string) => new DatastoreError("unavailable", says);
    this.#isWatched = true;
    for await (const events of untilSilent(open, { clock, signal, silenceMs, what: `a watch of ${kind}`, error })) {
      if (events.some(({ is }) => is !== "bookmark")) this.changed();
    }
  }

  #within(): { within?: Within } {
    const { within } = this.#source;
    return within === undefined ? {} : { within };
  }
}

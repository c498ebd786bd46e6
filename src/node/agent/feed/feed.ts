// The cluster's state for all parts: one stream for each data set, or one for both where the datastore is read itself. Nobody keeps what
// went by, because on a node memory is what costs: a consumer that comes late has its stream opened anew. The others are then told again
// what they know, and are told as deleted what has gone in between.
//
//   source ──batches of (set, events)──▶ Channel ──▶ consumers, in the order in which they came
import { Backoff, type Clock, type Log, messageOf, passAbort } from "../../../base/lib/index.ts";
import type { DataSet, Feed, FeedConsumer, FeedState } from "../../part/index.ts";

export type FeedEvent =
  | { readonly is: "set"; readonly path: string; readonly value: string }
  | { readonly is: "delete"; readonly path: string }
  /** Everything that there is has been said. */
  | { readonly is: "in sync" }
  /** What is known may be old from here on, until it is in sync again, or contact is back. */
  | { readonly is: "cut off"; readonly why: string }
  | { readonly is: "back" };

type StatusEvent = Exclude<FeedEvent, { readonly is: "set" | "delete" }>;

/** Where one or both data sets come from. It keeps what it has told from one opening to the next, so that it can tell what has gone. */
export type FeedSource = {
  readonly sets: readonly DataSet[];
  /** Until the signal; throwing, or ending before, is a loss like any other. Of the other data sets it need say nothing. */
  open(
    signal: AbortSignal,
    asked: ReadonlySet<DataSet>,
  ): AsyncIterable<{ readonly set: DataSet; readonly events: readonly FeedEvent[] }>;
};

export type FeedOptions = {
  readonly sources: readonly FeedSource[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How many will follow a data set from the start: it is opened when they are there, or after a moment without them. */
  readonly expected?: { readonly [S in DataSet]?: number };
  /** Hears how each data set does that somebody follows. */
  readonly watch?: (set: DataSet, state: FeedState) => void;
};

/**
 * Other nodes change all the time, and most of it does not concern this one. Of a busy stream much is read at once, instead of waking all
 * parts for each change; the time is a part of what the original gathers for.
 */
export const pace = { restMs: 50, freePerSecond: 10 } as const;

/** Parts start within moments of each other: a stream is opened for all of them, not for the first and again for each. */
const gatherMs = 30;
const longestGatherMs = 3000;

export function openFeed(options: FeedOptions): Feed {
  const channels = options.sources.map((source) => new Channel(source, options));
  return {
    follow(set, consumer) {
      const channel = channels.find(({ sets }) => sets.includes(set));
      if (channel === undefined) throw new Error(`there is no source of the data set ${set}`);
      return channel.follow(set, consumer);
    },
  };
}

type Follower = {
  readonly set: DataSet;
  readonly consumer: FeedConsumer;
  /** The opening from which on it has heard everything. */
  readonly from: number;
  inSync: boolean;
};

class Channel {
  readonly sets: readonly DataSet[];
  readonly #source: FeedSource;
  readonly #options: FeedOptions;
  readonly #followers = new Set<Follower>();
  readonly #cutOff = new Map<DataSet, string>();
  #opening = 0;
  #isAsked = false;
  #reopen = new AbortController();
  #isRunning = false;
  readonly #allCame = Promise.withResolvers<void>();

  constructor(source: FeedSource, options: FeedOptions) {
    this.sets = source.sets;
    this.#source = source;
    this.#options = options;
  }

  follow(set: DataSet, consumer: FeedConsumer): Disposable {
    const follower: Follower = { set, consumer, from: this.#opening + 1, inSync: false };
    this.#followers.add(follower);
    this.#isAsked = true;
    if (this.#haveAllCome()) this.#allCame.resolve();
    if (this.#isRunning) void this.#reopenSoon();
    else {
      this.#isRunning = true;
      void this.#run();
    }
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  #haveAllCome(): boolean {
    const { expected = {} } = this.#options;
    const count = (set: DataSet) => [...this.#followers].filter((one) => one.set === set).length;
    return this.sets.every((set) => count(set) >= (expected[set] ?? 0));
  }

  /** A part that has to look at the kernel first comes later than others; each that came too late would have the stream opened again. */
  async #gather(): Promise<void> {
    const { clock, signal } = this.#options;
    const enough = new AbortController();
    using _ = passAbort(signal, enough);
    const late = clock.sleep(this.#haveAllCome() ? gatherMs : longestGatherMs, enough.signal).catch(() => undefined); // ended
    await Promise.race([
      late,
      this.#allCame.promise.then(() => clock.sleep(gatherMs, enough.signal).catch(() => undefined)),
    ]);
    enough.abort();
  }

  async #reopenSoon(): Promise<void> {
    if (this.#opening === 0) return; // the first opening is for all who are there by then
    const { clock, signal } = this.#options;
    await clock.sleep(gatherMs, signal).catch(() => undefined); // aborted: the loop ends anyhow
    if (this.#isAsked) this.#reopen.abort();
  }

  async #run(): Promise<void> {
    const { clock, signal, log, random } = this.#options;
    const backoff = new Backoff(random, { capMs: 10_000, retryAfterCapMs: 10_000 });
    await this.#gather();
    while (!signal.aborted) {
      this.#isAsked = false;
      this.#reopen = new AbortController();
      this.#opening += 1;
      try {
        using _ = passAbort(signal, this.#reopen);
        await this.#read(this.#reopen.signal, () => backoff.reset());
        if (signal.aborted || this.#reopen.signal.aborted) continue;
        throw new Error("the stream of the cluster's state ended");
      } catch (error) {
        if (signal.aborted || this.#reopen.signal.aborted) continue;
        log.error("The cluster's state cannot be followed; trying again", { problem: messageOf(error) });
        for (const set of this.sets) this.#settle(set, { is: "cut off", why: messageOf(error) });
        await clock.sleep(backoff.nextDelayMs(1000), signal).catch(() => undefined); // as above
      }
    }
  }

  async #read(signal: AbortSignal, well: () => void): Promise<void> {
    // One who follows another data set later has it opened anew.
    const asked = new Set([...this.#followers].map((one) => one.set));
    for await (const { set, events } of this.#source.open(signal, asked)) {
      if (signal.aborted) return;
      const followers = [...this.#followers].filter((one) => one.set === set && one.from <= this.#opening);
      let status: StatusEvent | undefined;
      for (const event of events) {
        if (event.is === "set") for (const { consumer } of followers) consumer.set(event.path, event.value);
        else if (event.is === "delete") for (const { consumer } of followers) consumer.delete(event.path);
        else status = event;
      }
      if (status?.is === "in sync") well();
      this.#settle(set, status);
    }
  }

  #settle(set: DataSet, status: StatusEvent | undefined): void {
    if (status?.is === "in sync" || status?.is === "back") this.#cutOff.delete(set);
    if (status?.is === "cut off") this.#cutOff.set(set, status.why);
    const cutOff = this.#cutOff.get(set);
    const followers = [...this.#followers].filter((one) => one.set === set && one.from <= this.#opening);
    for (const follower of followers) {
      if (status?.is === "in sync") follower.inSync = true;
      follower.consumer.settled({ inSync: follower.inSync, ...(cutOff === undefined ? {} : { cutOff }) });
    }
    const [oldest] = followers;
    if (oldest !== undefined)
      this.#options.watch?.(set, { inSync: oldest.inSync, ...(cutOff === undefined ? {} : { cutOff }) });
  }
}

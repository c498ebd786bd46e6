// Follows one kind for months: lists it, watches from there, and after every fault gets back to saying exactly what the
// datastore holds. Sits between a datastore and a syncer. What happens when is decided by follow-machine.ts; here the
// datastore is asked, and time passes.
import { Backoff, backoffLimits, type Clock, type Log, unreachable, untilSilent } from "../../../base/lib/index.ts";
import { type Kind, kindInfo } from "../../kinds/index.ts";
import type { Reader, Revision, WatchEvent } from "../datastore.ts";
import { DatastoreError, unavailable } from "../errors.ts";
import { whenForbidden } from "../missing-rights.ts";
import type { FollowEvent } from "./follow-event.ts";
import {
  type FollowInput,
  type FollowLimits,
  type FollowMachine,
  followLimits,
  notStarted,
  type Phase,
  step,
  type Wait,
} from "./follow-machine.ts";
import { type FollowReport, type MutableFollowReport, newReport, publicCode } from "./follow-report.ts";
import { type Attempt, KindLog } from "./kind-log.ts";
import { KnownObjects } from "./known-objects.ts";

export type FollowOptions = {
  readonly clock: Clock;
  readonly log: Log;
  /** Shared by followers that may fail for the same reason, so that they say so together. */
  readonly kindLog?: KindLog;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Its abort ends the stream. */
  readonly signal: AbortSignal;
  readonly limits?: Partial<FollowLimits>;
};

/** Batches in datastore order, never empty. The kind counts as "wait for datastore" until the first status. */
export type Follower = AsyncIterable<readonly FollowEvent[]> & { readonly report: FollowReport };

/** One consumer only. Nothing happens before it asks for the first batch. */
export function follow(datastore: Reader, kind: Kind, options: FollowOptions): Follower {
  const follower = new KindFollower(datastore, kind, options);
  return { report: follower.report, [Symbol.asyncIterator]: () => follower.run() };
}

type Batches = AsyncGenerator<readonly FollowEvent[], void, undefined>;

class KindFollower {
  readonly report: MutableFollowReport;
  readonly #datastore: Reader;
  readonly #kind: Kind;
  readonly #options: FollowOptions;
  readonly #limits: FollowLimits;
  readonly #backoff: Backoff;
  readonly #forbiddenBackoff: Backoff;
  readonly #known = new KnownObjects();
  readonly #kindLog: KindLog;
  #machine: FollowMachine = notStarted;
  #blockedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(datastore: Reader, kind: Kind, options: FollowOptions) {
    this.#datastore = datastore;
    this.#kind = kind;
    this.#options = options;
    this.#limits = { ...followLimits, ...options.limits };
    this.#backoff = new Backoff(options.random);
    this.#forbiddenBackoff = new Backoff(options.random, { ...backoffLimits, capMs: this.#limits.forbiddenRetryMs });
    this.#kindLog = options.kindLog ?? new KindLog(options);
    this.report = newReport(kind);
  }

  async *run(): Batches {
    try {
      while (!this.#options.signal.aborted) {
        await this.#untilAllowed();
        const { phase } = this.#machine;
        yield* batch(this.#take({ is: "opens" }));
        if (phase.at === "list") yield* this.#list(phase);
        else yield* this.#watch(phase.from);
      }
    } catch (error) {
      if (!this.#options.signal.aborted) throw error;
    } finally {
      this.report.state = "stopped";
    }
  }

  async #untilAllowed(): Promise<void> {
    const { clock, signal } = this.#options;
    const delayMs = Math.max(0, this.#blockedUntilMs - clock.monotonicMs());
    const { state } = this.report;
    if (delayMs > 0 && (state === "listing" || state === "watching")) this.report.state = "waiting";
    // Also when no time is left: a datastore that fails at once, for ever, must not keep the process from its other work.
    await clock.sleep(delayMs, signal);
    this.#block(this.#limits.attemptIntervalMs);
  }

  async *#list({ changesStatus }: Extract<Phase, { at: "list" }>): Batches {
    this.#known.startList();
    let revision: Revision | undefined;
    try {
      for await (const page of this.#open((signal) => this.#datastore.list(this.#kind, { signal }), "a list")) {
        revision = page.revision;
        yield* batch(this.#take({ is: "page", events: this.#known.absorbPage(page) }));
      }
      // Even an empty kind is a page with a revision. To take silence for emptiness would delete everything.
      if (revision === undefined) throw new DatastoreError("invalid", `a list of ${this.#kind} came without a page`);
    } catch (error) {
      const failure = this.#noteFailure("list", error);
      if (!this.#isEmptyBecause(failure)) return yield* batch(this.#take({ is: "failed", error: failure }));
      this.#known.startList();
      return yield* batch(this.#listCompleted(undefined, changesStatus));
    }
    this.#recovered("list");
    yield* batch(this.#listCompleted(revision, changesStatus));
  }

  #listCompleted(revision: Revision | undefined, changesStatus: boolean): readonly FollowEvent[] {
    if (this.report.listsCompleted > 0 && changesStatus) this.report.relists += 1;
    this.report.listsCompleted += 1;
    return this.#take({ is: "listed", deletions: this.#known.endList(), revision });
  }

  /**
   * The original's clients for custom resources answer a missing definition with an empty list; its clients for other
   * APIs say that they are missing, and then what was announced stays.
   */
  #isEmptyBecause({ code }: DatastoreError): boolean {
    return code === "no-such-kind" && kindInfo(this.#kind).whenMissing === "custom-resource";
  }

  async *#watch(from: Revision): Batches {
    this.report.watchesOpened += 1;
    let isHeard = false;
    try {
      const open = (signal: AbortSignal) => this.#datastore.watch(this.#kind, { from, signal });
      for await (const events of this.#open(open, "a watch")) {
        isHeard = true;
        yield* batch(this.#hear(events));
      }
    } catch (error) {
      return yield* batch(this.#take({ is: "failed", error: this.#noteFailure("watch", error) }));
    }
    this.#take({ is: "closed", isHeard });
  }

  #hear(events: readonly WatchEvent[]): readonly FollowEvent[] {
    const said: FollowEvent[] = [];
    let revision: Revision | undefined;
    for (const event of events) {
      revision = event.is === "set" ? event.object.revision : event.revision;
      if (event.is === "set" && this.#known.absorb(event.object))
        said.push({ is: "set", object: event.object, origin: "watch" });
      else if (event.is === "delete" && this.#known.forget(event.id)) said.push({ is: "delete", id: event.id });
    }
    if (revision === undefined) return said;
    this.#recovered("watch");
    if (said.length > 0) this.report.lastEventAtMs = this.#options.clock.wallMs();
    return this.#take({ is: "heard", events: said, revision });
  }

  /** What is to be said; the rest of the decision is carried out. */
  #take(input: FollowInput): readonly FollowEvent[] {
    const nowMs = this.#options.clock.monotonicMs();
    const context = { limits: this.#limits, whenForbidden: whenForbidden(this.#kind), nowMs };
    const { machine, says, shows, waits } = step(this.#machine, input, context);
    this.#machine = machine;
    this.report.status = machine.status;
    this.report.revision = machine.phase.at === "watch" ? machine.phase.from : "";
    this.report.objects = this.#known.size;
    if (shows !== undefined) this.report.state = shows;
    if (waits !== undefined) this.#block(this.#lengthOf(waits));
    return says;
  }

  #block(delayMs: number): void {
    this.#blockedUntilMs = this.#options.clock.monotonicMs() + delayMs;
  }

  #lengthOf(wait: Wait): number {
    switch (wait.is) {
      case "fixed":
        return wait.ms;
      case "growing":
        return this.#backoff.nextDelayMs(wait.fromMs, wait.atLeastMs);
      case "for-a-right":
        return this.#forbiddenBackoff.nextDelayMs(wait.fromMs);
      default:
        return unreachable(wait);
    }
  }

  #open<T>(open: (signal: AbortSignal) => AsyncIterable<T>, what: string): AsyncGenerator<T, void, undefined> {
    const { clock, signal } = this.#options;
    const onSilence = () => {
      this.report.silences += 1;
      this.#take({ is: "silent" });
    };
    const silence = { silenceMs: this.#limits.silenceMs, what: `${what} of ${this.#kind}`, error: unavailable };
    return untilSilent(open, { clock, signal, ...silence, onSilence });
  }

  #noteFailure(during: Attempt, error: unknown): DatastoreError {
    const { clock, signal } = this.#options;
    signal.throwIfAborted();
    // An error of another class is a fault of the datastore's code. To stop following would make it worse.
    const failure =
      error instanceof DatastoreError ? error : new DatastoreError("invalid", `${error}`, { cause: error });
    this.report.errors += 1;
    this.report.lastError = { code: publicCode(failure), message: failure.message, atMs: clock.wallMs() };
    if (failure.code === "forbidden") this.report.missingRule = failure.missingRule;
    this.#kindLog.failed(this.#kind, during, failure);
    return failure;
  }

  #recovered(during: Attempt): void {
    this.#backoff.reset();
    this.#forbiddenBackoff.reset();
    this.report.missingRule = undefined;
    this.#kindLog.recovered(this.#kind, during);
  }
}

function* batch(events: readonly FollowEvent[]): Generator<readonly FollowEvent[], void, undefined> {
  if (events.length > 0) yield events;
}

// Follows one kind for months: lists it, watches from there, and after every fault gets back to saying exactly what the
// datastore holds. Sits between a datastore and a syncer. docs/decisions/0007-list-watch-by-hand.md has the argument.
//
//            +--------------------- expired, five errors, lost contact ---------------------+
//            v                                                                              |
//   wait -> list (pages) -- complete --> deletions of what is gone --> in sync --> watch ---+
//    ^       |                                                          ^           |
//    +-------+ failed: after a growing wait                             +-----------+ closed: at the same revision
//            +-- no such resource definition: empty, in sync, listed again every 5 s
//            +-- no such API: in sync, looked for every 30 min
//            +-- forbidden: optional kinds are in sync with what was last read; others stay unready and say which rule is
//                missing
//
// Where the original says "resync in progress" before every list, we hold it back while in sync until the list shows a
// difference or fails: a relist that finds nothing lost is invisible to clients.
import { Backoff, backoffLimits, type Clock, type Log, untilSilent } from "../../base/lib/index.ts";
import { type Kind, kindInfo } from "../kinds/index.ts";
import { type SyncStatus, syncStatus } from "../model/index.ts";
import type { Reader, Revision, WatchEvent } from "./datastore.ts";
import { DatastoreError, unavailable } from "./errors.ts";
import type { FollowEvent } from "./follow-event.ts";
import { type FollowLimits, followLimits } from "./follow-limits.ts";
import { type FollowReport, type MutableFollowReport, newReport, publicCode } from "./follow-report.ts";
import { type Attempt, KindLog } from "./kind-log.ts";
import { KnownObjects } from "./known-objects.ts";
import { whenForbidden } from "./missing-rights.ts";

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
export type Follower = AsyncIterable<FollowEvent[]> & { readonly report: FollowReport };

/** One consumer only. Nothing happens before it asks for the first batch. */
export function follow(datastore: Reader, kind: Kind, options: FollowOptions): Follower {
  const follower = new KindFollower(datastore, kind, options);
  return { report: follower.report, [Symbol.asyncIterator]: () => follower.run() };
}

class KindFollower {
  readonly report: MutableFollowReport;
  readonly #datastore: Reader;
  readonly #kind: Kind;
  readonly #options: FollowOptions;
  readonly #limits: FollowLimits;
  readonly #backoff: Backoff;
  /** For optional kinds that we may not read: asked for less and less often. */
  readonly #forbiddenBackoff: Backoff;
  readonly #known = new KnownObjects();
  readonly #kindLog: KindLog;

  #status: SyncStatus = syncStatus.waitForDatastore;
  /** Undefined: nothing to go on from, so list. */
  #revision: Revision | undefined;
  #errorsAtRevision = 0;
  /** Watches in a row that were given up without having said a word. */
  #silentWatches = 0;
  /** Contact in the sense of the status: lost only after a long time without any. */
  #isConnected = false;
  #lastContactMs = Number.NEGATIVE_INFINITY;
  /** False while the kind lives without a watch (polled, missing, forbidden): such lists change no status. */
  #listChangesStatus = true;
  /** In sync was taken back because a watch is not allowed; the first word from one gives it again. */
  #isWatchForbidden = false;
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

  async *run(): AsyncGenerator<FollowEvent[], void, undefined> {
    try {
      while (!this.#options.signal.aborted) {
        await this.#untilAllowed();
        if (this.#revision === undefined) yield* this.#list();
        else yield* this.#watch(this.#revision);
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

  #block(delayMs: number): void {
    this.#blockedUntilMs = this.#options.clock.monotonicMs() + delayMs;
  }

  // --- list ---

  async *#list(): AsyncGenerator<FollowEvent[], void, undefined> {
    const changesStatus = this.#listChangesStatus;
    if (changesStatus) this.report.state = "listing";
    if (changesStatus && !this.#isConnected) yield* batch(this.#say(syncStatus.waitForDatastore));
    this.#known.startList();
    let revision: Revision | undefined;
    try {
      for await (const page of this.#open((signal) => this.#datastore.list(this.#kind, { signal }), "a list")) {
        revision = page.revision;
        this.#noteContact();
        const events = this.#known.absorbPage(page);
        this.report.objects = this.#known.size;
        yield* batch([...this.#leaveFor(events, changesStatus), ...events]);
      }
      // Even an empty kind is a page with a revision. To take silence for emptiness would delete everything.
      if (revision === undefined) throw new DatastoreError("invalid", `a list of ${this.#kind} came without a page`);
    } catch (error) {
      yield* batch(this.#listFailed(error, changesStatus));
      return;
    }
    this.#recovered("list");
    yield* batch(this.#listCompleted(revision, changesStatus));
  }

  /** What must be said before `events`: nothing is announced while waiting, and a difference while in sync is a resync. */
  #leaveFor(events: readonly FollowEvent[], changesStatus: boolean): FollowEvent[] {
    if (this.#status === syncStatus.waitForDatastore) return this.#say(syncStatus.resyncInProgress);
    return changesStatus && events.length > 0 ? this.#say(syncStatus.resyncInProgress) : [];
  }

  #listCompleted(revision: Revision | undefined, changesStatus: boolean): FollowEvent[] {
    const isFirst = this.report.listsCompleted === 0;
    this.report.listsCompleted += 1;
    this.#silentWatches = 0;
    if (!isFirst && changesStatus) this.report.relists += 1;
    this.#noteContact();
    this.#errorsAtRevision = 0;
    const deletions = this.#known.endList();
    this.report.objects = this.#known.size;
    const events = [...this.#leaveFor(deletions, changesStatus), ...deletions, ...this.#say(syncStatus.inSync)];
    // An answer without a revision cannot be watched from: its source has no such kind, so look again soon.
    if (revision === undefined || revision === "") this.#poll();
    else {
      this.#goTo(revision);
      this.#listChangesStatus = true;
    }
    return events;
  }

  #listFailed(error: unknown, changesStatus: boolean): FollowEvent[] {
    const failure = this.#noteFailure("list", error);
    if (failure.code === "no-such-kind") return this.#kindMissing(changesStatus);
    this.#listChangesStatus = true;
    if (failure.code === "expired" || failure.code === "too-large-revision") {
      this.#noteContact();
      this.#errorsAtRevision = 0;
      this.#block(this.#backoff.nextDelayMs(this.#limits.listRetryMs));
      return [];
    }
    if (failure.code === "forbidden" && whenForbidden(this.#kind) === "empty") return this.#doWithout(failure);
    if (failure.code === "forbidden") this.#nameMissingRule(failure);
    if (this.#isContactLost()) this.#isConnected = false;
    this.#block(this.#backoff.nextDelayMs(this.#limits.listRetryMs, failure.retryAfterMs));
    return changesStatus && this.#status === syncStatus.inSync ? this.#say(syncStatus.resyncInProgress) : [];
  }

  #kindMissing(changesStatus: boolean): FollowEvent[] {
    // The original's clients for custom resources answer a missing definition with an empty list; its clients for other
    // APIs say that they are missing, and then what was announced stays.
    if (kindInfo(this.#kind).whenMissing === "custom-resource") {
      this.#known.startList();
      return this.#listCompleted(undefined, changesStatus);
    }
    this.#noteContact();
    this.report.state = "missing";
    this.#listChangesStatus = false;
    this.#block(this.#limits.missingApiRetryMs);
    return [...this.#leaveFor([], false), ...this.#say(syncStatus.inSync)];
  }

  #doWithout(failure: DatastoreError): FollowEvent[] {
    this.#noteContact();
    this.#nameMissingRule(failure);
    this.#listChangesStatus = false;
    this.#block(this.#forbiddenBackoff.nextDelayMs(this.#limits.listRetryMs));
    return [...this.#leaveFor([], false), ...this.#say(syncStatus.inSync)];
  }

  #nameMissingRule(failure: DatastoreError): void {
    this.report.state = "forbidden";
    this.report.missingRule = failure.missingRule;
  }

  #poll(): void {
    this.report.state = "polling";
    this.#goTo(undefined);
    this.#listChangesStatus = false;
    this.#block(this.#limits.pollIntervalMs);
  }

  // --- watch ---

  async *#watch(from: Revision): AsyncGenerator<FollowEvent[], void, undefined> {
    if (!this.#isWatchForbidden) this.report.state = "watching";
    this.report.watchesOpened += 1;
    let isHeard = false;
    try {
      for await (const events of this.#open(
        (signal) => this.#datastore.watch(this.#kind, { from, signal }),
        "a watch",
      )) {
        isHeard = true;
        const said: FollowEvent[] = [];
        for (const event of events) this.#absorb(event, said);
        yield* batch(said);
      }
    } catch (error) {
      yield* batch(this.#watchFailed(error));
      return;
    }
    // A server that hangs up on every watch at once is asked less and less often.
    if (!isHeard) this.#block(this.#backoff.nextDelayMs(this.#limits.attemptIntervalMs));
  }

  #absorb(event: WatchEvent, said: FollowEvent[]): void {
    this.#noteContact();
    this.#errorsAtRevision = 0;
    this.#silentWatches = 0;
    this.#recovered("watch");
    const saidBefore = said.length;
    if (event.is === "set") {
      this.#goTo(event.object.revision);
      if (this.#known.absorb(event.object)) said.push({ is: "set", object: event.object, origin: "watch" });
    } else {
      this.#goTo(event.revision);
      if (event.is === "delete" && this.#known.forget(event.id)) said.push({ is: "delete", id: event.id });
    }
    if (said.length > saidBefore) this.report.lastEventAtMs = this.#options.clock.wallMs();
    this.report.objects = this.#known.size;
    if (this.#isWatchForbidden) {
      this.#isWatchForbidden = false;
      this.report.state = "watching";
      said.push(...this.#say(syncStatus.inSync));
    }
  }

  #watchFailed(error: unknown): FollowEvent[] {
    const failure = this.#noteFailure("watch", error);
    switch (failure.code) {
      case "expired":
      case "too-large-revision":
        this.#noteContact();
        this.#goTo(undefined);
        return [];
      case "unsupported":
      case "no-such-kind":
        this.#poll();
        return [];
      case "forbidden":
        return this.#watchForbidden(failure);
      case "rate-limited":
      case "unavailable":
        // Nobody answered, or the stream broke off: the same revision will do, unless it was the server that said so.
        if (failure.status !== undefined && failure.code === "unavailable") this.#countError();
        // An API server says nothing to a watch from a revision it has not reached, as after a restore from a backup.
        else if (this.#silentWatches >= 2) this.#goTo(undefined);
        else if (this.#isContactLost()) {
          this.#isConnected = false;
          this.#goTo(undefined);
        }
        break;
      default:
        this.#countError();
    }
    this.#block(this.#backoff.nextDelayMs(this.#limits.attemptIntervalMs, failure.retryAfterMs));
    return [];
  }

  #countError(): void {
    this.#errorsAtRevision += 1;
    if (this.#errorsAtRevision < this.#limits.errorsBeforeList) return;
    this.#errorsAtRevision = 0;
    this.#goTo(undefined);
  }

  #watchForbidden(failure: DatastoreError): FollowEvent[] {
    this.#nameMissingRule(failure);
    if (whenForbidden(this.#kind) === "empty") {
      this.#block(this.#forbiddenBackoff.nextDelayMs(this.#limits.listRetryMs));
      return [];
    }
    // A list alone would be in sync only for the moment it was made.
    this.#isWatchForbidden = true;
    this.#block(this.#backoff.nextDelayMs(this.#limits.listRetryMs));
    return this.#status === syncStatus.inSync ? this.#say(syncStatus.resyncInProgress) : [];
  }

  // --- common ---

  #open<T>(open: (signal: AbortSignal) => AsyncIterable<T>, what: string): AsyncGenerator<T, void, undefined> {
    const { clock, signal } = this.#options;
    const onSilence = () => {
      this.report.silences += 1;
      this.#silentWatches += 1;
    };
    const name = `${what} of ${this.#kind}`;
    return untilSilent(open, {
      clock,
      signal,
      silenceMs: this.#limits.silenceMs,
      what: name,
      error: unavailable,
      onSilence,
    });
  }

  #say(status: SyncStatus): FollowEvent[] {
    if (this.#status === status) return [];
    this.#status = status;
    this.report.status = status;
    return [{ is: "status", status }];
  }

  #goTo(revision: Revision | undefined): void {
    this.#revision = revision;
    this.report.revision = revision ?? "";
  }

  #noteContact(): void {
    this.#isConnected = true;
    this.#lastContactMs = this.#options.clock.monotonicMs();
  }

  #isContactLost(): boolean {
    return this.#options.clock.monotonicMs() - this.#lastContactMs > this.#limits.contactLostMs;
  }

  #noteFailure(during: Attempt, error: unknown): DatastoreError {
    const { clock, signal } = this.#options;
    signal.throwIfAborted();
    // An error of another class is a fault of the datastore's code. To stop following would make it worse.
    const failure =
      error instanceof DatastoreError ? error : new DatastoreError("invalid", `${error}`, { cause: error });
    const { message } = failure;
    this.report.errors += 1;
    this.report.lastError = { code: publicCode(failure), message, atMs: clock.wallMs() };
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

function* batch(events: FollowEvent[]): Generator<FollowEvent[], void, undefined> {
  if (events.length > 0) yield events;
}

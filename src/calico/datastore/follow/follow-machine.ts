// What a follower of one kind does next: the outcome of one step of listing or watching in, decisions out. It asks no
// datastore and waits for nothing; follow.ts carries the decisions out. docs/decisions/0007-list-watch-by-hand.md has the
// argument.
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
import { unreachable } from "../../../base/lib/index.ts";
import { type SyncStatus, syncStatus } from "../../model/index.ts";
import type { Revision } from "../datastore.ts";
import type { DatastoreError } from "../errors.ts";
import type { WhenForbidden } from "../missing-rights.ts";
import type { FollowEvent } from "./follow-event.ts";
import type { FollowState } from "./follow-report.ts";

/** The times and counts of a follower. Where the original has the number too, it is the original's. */
export type FollowLimits = {
  /** Least time between two attempts to list or watch. */
  readonly attemptIntervalMs: number;
  /** First wait after a failed list; grows from there, where the original stays at it. */
  readonly listRetryMs: number;
  /** Time between lists of a kind that cannot be watched or whose custom resource definition is missing. */
  readonly pollIntervalMs: number;
  /** Time between looks for an API that is not installed. */
  readonly missingApiRetryMs: number;
  /**
   * Longest time between tries to read an optional kind that we may not read. The first ones come soon: an API server
   * that has just started refuses everything until it has read its roles. Ours.
   */
  readonly forbiddenRetryMs: number;
  /** So long without contact, and the kind says "wait for datastore". */
  readonly contactLostMs: number;
  /** So long without event, bookmark or page, and the connection is given up: it may be half open. Ours. */
  readonly silenceMs: number;
  /** Failures at one revision after which the watch is given up for a list. */
  readonly errorsBeforeList: number;
};

export const followLimits: FollowLimits = {
  attemptIntervalMs: 500,
  listRetryMs: 1000,
  pollIntervalMs: 5000,
  missingApiRetryMs: 30 * 60_000,
  forbiddenRetryMs: 5 * 60_000,
  contactLostMs: 600_000,
  silenceMs: 150_000,
  errorsBeforeList: 5,
};

export type Phase =
  /** False while the kind lives without a watch (polled, missing, forbidden): such lists change no status. */
  | { readonly at: "list"; readonly changesStatus: boolean }
  | {
      readonly at: "watch";
      readonly from: Revision;
      readonly errorsAtRevision: number;
      /** Watches in a row that were given up without having said a word. */
      readonly silences: number;
      /** In sync was taken back because a watch is not allowed; the first word from one gives it again. */
      readonly isForbidden: boolean;
    };

export type FollowMachine = {
  readonly status: SyncStatus;
  /** In the sense of the status: lost only after a long time without any. */
  readonly contact: { readonly is: "lost" } | { readonly is: "kept"; readonly lastMs: number };
  readonly phase: Phase;
};

export const notStarted: FollowMachine = {
  status: syncStatus.waitForDatastore,
  contact: { is: "lost" },
  phase: { at: "list", changesStatus: true },
};

export type FollowInput =
  /** An attempt of the present phase begins. */
  | { readonly is: "opens" }
  /** A page of a list: what of it is new. */
  | { readonly is: "page"; readonly events: readonly FollowEvent[] }
  /** The end of a complete list. Without a revision its source cannot be watched, or has no such kind. */
  | { readonly is: "listed"; readonly deletions: readonly FollowEvent[]; readonly revision: Revision | undefined }
  /** Events of a watch that came together: what of them is new, and where the watch is now. */
  | { readonly is: "heard"; readonly events: readonly FollowEvent[]; readonly revision: Revision }
  /** The other side ended the watch. */
  | { readonly is: "closed"; readonly isHeard: boolean }
  /** The other side said nothing for too long. The failure follows. */
  | { readonly is: "silent" }
  | { readonly is: "failed"; readonly error: DatastoreError };

/** Before the next attempt. A wait that grows does so with every failure, until something works. */
export type Wait =
  | { readonly is: "fixed"; readonly ms: number }
  | { readonly is: "growing"; readonly fromMs: number; readonly atLeastMs?: number | undefined }
  /** For optional kinds that we may not read: asked for less and less often. */
  | { readonly is: "for-a-right"; readonly fromMs: number };

export type FollowStep = {
  readonly machine: FollowMachine;
  readonly says: readonly FollowEvent[];
  readonly shows?: FollowState;
  readonly waits?: Wait;
};

export type FollowContext = {
  readonly limits: FollowLimits;
  readonly whenForbidden: WhenForbidden;
  readonly nowMs: number;
};

export function step(machine: FollowMachine, input: FollowInput, context: FollowContext): FollowStep {
  const { phase } = machine;
  switch (input.is) {
    case "opens":
      return opens(machine);
    case "page": {
      const met = inContact(machine, context);
      return saying(met, input.events);
    }
    case "listed":
      return listed(inContact(machine, context), input, context);
    case "heard":
      return heard(inContact(machine, context), input);
    case "closed":
      // A server that hangs up on every watch at once is asked less and less often.
      return { machine, says: [], ...(input.isHeard ? {} : { waits: growing(context.limits.attemptIntervalMs) }) };
    case "silent":
      if (phase.at === "list") return { machine, says: [] };
      return { machine: { ...machine, phase: { ...phase, silences: phase.silences + 1 } }, says: [] };
    case "failed":
      if (phase.at === "list") return listFailed(machine, phase.changesStatus, input.error, context);
      return watchFailed(machine, phase, input.error, context);
    default:
      return unreachable(input);
  }
}

function opens(machine: FollowMachine): FollowStep {
  const { phase, contact } = machine;
  if (phase.at === "watch") return { machine, says: [], ...(phase.isForbidden ? {} : { shows: "watching" }) };
  if (!phase.changesStatus) return { machine, says: [] };
  const told = contact.is === "lost" ? say(machine, syncStatus.waitForDatastore) : { machine, says: [] };
  return { ...told, shows: "listing" };
}

function listed(
  machine: FollowMachine,
  { deletions, revision }: Extract<FollowInput, { is: "listed" }>,
  { limits }: FollowContext,
): FollowStep {
  const gone = saying(machine, deletions);
  const done = say(gone.machine, syncStatus.inSync);
  const says = [...gone.says, ...done.says];
  if (revision === undefined || revision === "") return { ...polled(done.machine, limits), says };
  return { machine: { ...done.machine, phase: watchFrom(revision) }, says };
}

function heard(machine: FollowMachine, { events, revision }: Extract<FollowInput, { is: "heard" }>): FollowStep {
  const wasForbidden = machine.phase.at === "watch" && machine.phase.isForbidden;
  const next = { ...machine, phase: watchFrom(revision) };
  if (!wasForbidden) return { machine: next, says: events };
  const told = say(next, syncStatus.inSync);
  return { machine: told.machine, says: [...events, ...told.says], shows: "watching" };
}

function listFailed(
  machine: FollowMachine,
  changesStatus: boolean,
  error: DatastoreError,
  context: FollowContext,
): FollowStep {
  const { limits, whenForbidden } = context;
  const again = relisting(machine);
  switch (error.code) {
    case "no-such-kind":
      return {
        ...withoutIt(inContact(machine, context)),
        shows: "missing",
        waits: { is: "fixed", ms: limits.missingApiRetryMs },
      };
    case "expired":
    case "too-large-revision":
      return { machine: inContact(again, context), says: [], waits: growing(limits.listRetryMs) };
    case "forbidden":
      if (whenForbidden !== "empty") break;
      return {
        ...withoutIt(inContact(machine, context)),
        shows: "forbidden",
        waits: { is: "for-a-right", fromMs: limits.listRetryMs },
      };
    default:
  }
  const left = isContactLost(machine, context) ? outOfContact(again) : again;
  const told = changesStatus ? leaveSync(left) : { machine: left, says: [] };
  return {
    ...told,
    ...(error.code === "forbidden" ? { shows: "forbidden" } : {}),
    waits: growing(limits.listRetryMs, error.retryAfterMs),
  };
}

function watchFailed(
  machine: FollowMachine,
  phase: Extract<Phase, { at: "watch" }>,
  error: DatastoreError,
  context: FollowContext,
): FollowStep {
  const { limits, whenForbidden } = context;
  switch (error.code) {
    case "expired":
    case "too-large-revision":
      return { machine: relisting(inContact(machine, context)), says: [] };
    case "unsupported":
    case "no-such-kind":
      return polled(machine, limits);
    case "forbidden":
      if (whenForbidden === "empty")
        return { machine, says: [], shows: "forbidden", waits: { is: "for-a-right", fromMs: limits.listRetryMs } };
      // A list alone would be in sync only for the moment it was made.
      return {
        ...leaveSync({ ...machine, phase: { ...phase, isForbidden: true } }),
        shows: "forbidden",
        waits: growing(limits.listRetryMs),
      };
    default:
      return {
        machine: afterWatchError(machine, phase, error, context),
        says: [],
        waits: growing(limits.attemptIntervalMs, error.retryAfterMs),
      };
  }
}

/** The same revision will do where nobody answered, or the stream broke off; unless it was the server that said so. */
function afterWatchError(
  machine: FollowMachine,
  phase: Extract<Phase, { at: "watch" }>,
  { code, status }: DatastoreError,
  context: FollowContext,
): FollowMachine {
  const isUnanswered = code === "rate-limited" || (code === "unavailable" && status === undefined);
  if (!isUnanswered) {
    const errorsAtRevision = phase.errorsAtRevision + 1;
    if (errorsAtRevision >= context.limits.errorsBeforeList) return relisting(machine);
    return { ...machine, phase: { ...phase, errorsAtRevision } };
  }
  // An API server says nothing to a watch from a revision it has not reached, as after a restore from a backup.
  if (phase.silences >= 2) return relisting(machine);
  return isContactLost(machine, context) ? relisting(outOfContact(machine)) : machine;
}

// --- common ---

function watchFrom(from: Revision): Phase {
  return { at: "watch", from, errorsAtRevision: 0, silences: 0, isForbidden: false };
}

function relisting(machine: FollowMachine): FollowMachine {
  return { ...machine, phase: { at: "list", changesStatus: true } };
}

function polled(machine: FollowMachine, { pollIntervalMs }: FollowLimits): FollowStep {
  const phase = { at: "list", changesStatus: false } as const;
  return { machine: { ...machine, phase }, says: [], shows: "polling", waits: { is: "fixed", ms: pollIntervalMs } };
}

/** In sync with what was last read, or with nothing. */
function withoutIt(machine: FollowMachine): Pick<FollowStep, "machine" | "says"> {
  const quiet: FollowMachine = { ...machine, phase: { at: "list", changesStatus: false } };
  const begun = saying(quiet, []);
  const done = say(begun.machine, syncStatus.inSync);
  return { machine: done.machine, says: [...begun.says, ...done.says] };
}

/** The events of a list, after what must be said before: nothing is announced while waiting, and a difference is a resync. */
function saying(machine: FollowMachine, events: readonly FollowEvent[]): Pick<FollowStep, "machine" | "says"> {
  const { status, phase } = machine;
  const isResync = phase.at === "list" && phase.changesStatus && events.length > 0;
  if (status !== syncStatus.waitForDatastore && !isResync) return { machine, says: events };
  const told = say(machine, syncStatus.resyncInProgress);
  return { machine: told.machine, says: [...told.says, ...events] };
}

function leaveSync(machine: FollowMachine): Pick<FollowStep, "machine" | "says"> {
  return machine.status === syncStatus.inSync ? say(machine, syncStatus.resyncInProgress) : { machine, says: [] };
}

function say(machine: FollowMachine, status: SyncStatus): { machine: FollowMachine; says: FollowEvent[] } {
  if (machine.status === status) return { machine, says: [] };
  return { machine: { ...machine, status }, says: [{ is: "status", status }] };
}

function inContact(machine: FollowMachine, { nowMs }: FollowContext): FollowMachine {
  return { ...machine, contact: { is: "kept", lastMs: nowMs } };
}

function outOfContact(machine: FollowMachine): FollowMachine {
  return { ...machine, contact: { is: "lost" } };
}

function isContactLost({ contact }: FollowMachine, { nowMs, limits }: FollowContext): boolean {
  return contact.is === "lost" || nowMs - contact.lastMs > limits.contactLostMs;
}

function growing(fromMs: number, atLeastMs?: number): Wait {
  return { is: "growing", fromMs, atLeastMs };
}

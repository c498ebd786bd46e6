// Reads an object, asks what it shall become, and writes that at the revision it was read at; again and again, until the
// write meets what was read. Nobody else in the house has such a loop.
//
//   read ──▶ change(current) ── nothing ──▶ done
//    ▲              │ value, delete
//    │              ▼
//    │            write ── done ──▶ done
//    └── wait ──────┤ conflict, exists, not-found: somebody else was first
//                   └ unavailable: the answer got lost, and nobody knows whether it was done
//
// Compare-and-swap makes the second case safe: a write that is still under way when the object is read again either
// happened before (and is seen) or meets another revision (and is refused). What is left to the change function is to see in
// the object that its change is there already; `mayBeDone` says when that can be.
import { Backoff, type Clock, systemClock } from "../../base/lib/index.ts";
import type { Kind } from "../kinds/index.ts";
import type { ObjectId, Reader, StoredObject, Through, Writer } from "./datastore.ts";
import { DatastoreError, isDatastoreError } from "./errors.ts";

export type Decision = "nothing" | "delete" | { readonly value: unknown };

/**
 * What the object shall become. `current` is undefined where there is none; a value then creates it. Asked once for every
 * attempt, so it must decide by what it is given alone. Throwing ends the edit.
 */
export type ChangeObject = (
  current: StoredObject | undefined,
  attempt: {
    /** A write of an earlier attempt was sent and its answer got lost: look whether the change is there already. */
    readonly mayBeDone: boolean;
  },
) => Decision | Promise<Decision>;

export type EditOptions = Through & {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  /** At least 0, below 1. */
  readonly random?: () => number;
  /** "status": only the status is written, of an object that must be there. */
  readonly part?: "object" | "status";
  /** Of reading, asking and writing. */
  readonly mostAttempts?: number;
  /** Of attempts that got no answer, or were told to come later; as many as all where nothing is said. */
  readonly mostUnanswered?: number;
};

export type Edited = {
  readonly did: "nothing" | "create" | "update" | "delete";
  /** As it is stored now; undefined where there is none. */
  readonly object: StoredObject | undefined;
  readonly attempts: number;
};

export type Editable = Pick<Reader, "get"> & Pick<Writer, "create" | "update" | "updateStatus" | "delete">;

/** A hundred writers at one object wear each other out for some seconds before one of them gives up. */
const defaultMostAttempts = 50;

const firstWaitMs = 4;
const longestWaitMs = 500;

export async function edit(
  datastore: Editable,
  kind: Kind,
  id: ObjectId,
  change: ChangeObject,
  options: EditOptions = {},
): Promise<Edited> {
  const { signal, clock = systemClock, random = Math.random, mostAttempts = defaultMostAttempts } = options;
  const { mostUnanswered = mostAttempts } = options;
  // Anything between no wait and the whole: writers that met once must not meet again in step.
  const backoff = new Backoff(random, { capMs: longestWaitMs, retryAfterCapMs: 60_000, spread: "whole" });
  const met: DatastoreError[] = [];
  let mayBeDone = false;
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    let sent: "create" | "change" | undefined;
    try {
      const current = await datastore.get(kind, id, { signal });
      const decision = await change(current, { mayBeDone });
      if (decision === "nothing") return { did: "nothing", object: current, attempts };
      sent = current === undefined ? "create" : "change";
      return { ...(await write(datastore, { kind, id, current, decision }, options)), attempts };
    } catch (error) {
      signal?.throwIfAborted();
      // Before the first write nothing is at stake: a datastore that cannot be read is the caller's business.
      const races = sent === undefined ? (mayBeDone ? noAnswer : []) : [...lostRaces[sent], ...noAnswer];
      if (races.length === 0 || !isDatastoreError(error, ...races)) throw error;
      met.push(error);
      mayBeDone ||= sent !== undefined && error.code === "unavailable";
      const unanswered = met.filter(({ code }) => (noAnswer as readonly string[]).includes(code)).length;
      if (attempts >= mostAttempts || unanswered >= mostUnanswered) throw gaveUp({ kind, id, met, mayBeDone });
      await clock.sleep(backoff.nextDelayMs(firstWaitMs, error.retryAfterMs), signal);
    }
  }
}

const noAnswer = ["unavailable", "rate-limited"] as const;
/** "not-found" for a create is about the namespace, and stays so. */
const lostRaces = { create: ["exists"], change: ["conflict", "not-found"] } as const;

type Write = {
  readonly kind: Kind;
  readonly id: ObjectId;
  readonly current: StoredObject | undefined;
  readonly decision: Exclude<Decision, "nothing">;
};

async function write(
  datastore: Editable,
  { kind, id, current, decision }: Write,
  { signal, part = "object", through }: EditOptions,
): Promise<Omit<Edited, "attempts">> {
  if (decision === "delete") {
    if (current === undefined) return { did: "nothing", object: undefined };
    await datastore.delete(kind, id, { revision: current.revision, signal });
    return { did: "delete", object: undefined };
  }
  const { value } = decision;
  if (current === undefined) {
    if (part === "status") throw noStatus(kind, id);
    return { did: "create", object: await datastore.create(kind, value, { id, signal }) };
  }
  const { revision } = current;
  const update = part === "status" ? datastore.updateStatus : datastore.update;
  return { did: "update", object: await update.call(datastore, kind, { id, revision, value }, { signal, through }) };
}

/** Not a race: trying again would find as little. */
function noStatus(kind: Kind, id: ObjectId): DatastoreError {
  return new DatastoreError("invalid", `${nameOf(kind, id)} does not exist, so it has no status to write`, {
    next: "create the object first",
  });
}

function gaveUp(what: {
  kind: Kind;
  id: ObjectId;
  met: readonly DatastoreError[];
  mayBeDone: boolean;
}): DatastoreError {
  const { kind, id, met, mayBeDone } = what;
  const last = met.at(-1);
  const counts = Map.groupBy(met, ({ code }) => code);
  const seen = [...counts]
    .map(([code, { length }]) => `${length === 1 ? "once" : `${length} times`} ${code}`)
    .join(", ");
  const fate = mayBeDone ? "; one of the writes may have been done" : "";
  return new DatastoreError(
    last?.code ?? "conflict",
    `${nameOf(kind, id)} could not be changed in ${met.length} attempts: ${seen}${fate}. Last: ${last?.message}`,
    {
      cause: last,
      next: "try again; if it lasts, look who else keeps writing this object, and whether the datastore answers",
    },
  );
}

function nameOf(kind: Kind, { namespace, name }: ObjectId): string {
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

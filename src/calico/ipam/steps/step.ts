// The language in which address management talks to whoever reads and writes: it yields a step, gets an answer, and in the end
// returns a result. What lies between two steps is pure, so every interleaving of several workers can be played without a
// datastore, and a worker's whole state is the row of answers it has had (`replay`).
//
//   const steps = autoAssign(request);
//   let next = steps.next();
//   while (!next.done) next = advance(steps, await carryOut(next.value));
//   return next.value;
//
// These are generators and not one `step` over a union of phases because the protocols call each other (assigning claims,
// claiming releases) and read as the rules are written down; the steps and answers are the unions.

import type { Family } from "../../../base/lib/index.ts";
import type { Labels } from "../../model/index.ts";
import type { Affinity, Owner } from "../affinity.ts";
import type { Block } from "../block.ts";
import type { Handle } from "../handle.ts";

/**
 * `revision` is the datastore's, opaque. `made` tells one object from another that was made under its name later; undefined where
 * the datastore does not say it.
 */
export type Versioned<T> = { readonly value: T; readonly revision: string; readonly made?: string | undefined };

export type Kinds = { readonly block: Block; readonly affinity: Affinity; readonly handle: Handle };
export type Kind = keyof Kinds;
export type Ref =
  | { readonly kind: "block"; readonly cidr: string }
  | { readonly kind: "affinity"; readonly owner: Owner; readonly cidr: string }
  | { readonly kind: "handle"; readonly id: string };
export type Stored = { readonly [K in Kind]: { readonly kind: K; readonly value: Kinds[K] } }[Kind];

export type Step =
  | { readonly do: "get"; readonly ref: Ref }
  /** In the datastore's order, which is that of the names. Of all owners where none is given. */
  | { readonly do: "list affinities"; readonly owner?: Owner; readonly family: Family }
  | { readonly do: "list blocks"; readonly family: Family }
  | { readonly do: "create"; readonly object: Stored }
  | { readonly do: "update"; readonly object: Stored; readonly revision: string }
  | { readonly do: "delete"; readonly ref: Ref; readonly revision: string }
  /** It must be there before anything is claimed for it. */
  | { readonly do: "read the node"; readonly name: string }
  | { readonly do: "read the clock" };

export type Answer =
  | { readonly is: "found"; readonly object: Stored; readonly revision: string; readonly made?: string | undefined }
  | { readonly is: "listed"; readonly objects: readonly { readonly object: Stored; readonly revision: string }[] }
  /** To an update or a deletion: it is gone. */
  | { readonly is: "absent" }
  | { readonly is: "written"; readonly revision: string }
  | { readonly is: "exists" }
  /** It has changed since that revision. */
  | { readonly is: "conflict" }
  | { readonly is: "node"; readonly labels: Labels }
  | { readonly is: "time"; readonly nowNs: bigint }
  /** `wasWritten`: after a timeout nobody knows whether the write happened. */
  | { readonly is: "failed"; readonly error: unknown; readonly wasWritten: "no" | "perhaps" };

export type Steps<T> = Generator<Step, T, Answer>;

/** A step that failed, where nothing is left to be done about it. */
export class StepFailed extends Error {
  readonly step: Step;
  constructor(step: Step, cause: unknown) {
    super(`${step.do} failed`, { cause });
    this.name = "StepFailed";
    this.step = step;
  }
}

export function advance<T>(steps: Steps<T>, answer: Answer): IteratorResult<Step, T> {
  return steps.next(answer);
}

/** Where a worker stands that has had these answers. */
export function replay<T>(start: () => Steps<T>, answers: readonly Answer[]): IteratorResult<Step, T> {
  const steps = start();
  let at = steps.next();
  for (const answer of answers) at = advance(steps, answer);
  return at;
}

/** As often as the original tries a compare-and-swap. */
export const mostTries = 100;

/** Of a write that fails for another reason than that somebody was faster. */
export const triesAfterFailure = 3;

/** Somebody else was faster every time. */
export class TooManyConflicts extends Error {
  constructor() {
    super("Max retries hit - excessive concurrent IPAM requests");
    this.name = "TooManyConflicts";
  }
}

/** What is marked as deleted is treated as absent, and its deletion finished: somebody may have crashed before. */
export function* getBlock(cidr: string): Steps<Versioned<Block> | undefined> {
  const found = yield* getLive({ kind: "block", cidr }, ({ kind, value }) => kind === "block" && value.isDeleted);
  return found?.object.kind === "block" ? { value: found.object.value, revision: found.revision } : undefined;
}

export function* getAffinity(owner: Owner, cidr: string): Steps<Versioned<Affinity> | undefined> {
  const ref: Ref = { kind: "affinity", owner, cidr };
  const found = yield* getLive(ref, ({ kind, value }) => kind === "affinity" && value.isDeleted);
  return found?.object.kind === "affinity" ? { value: found.object.value, revision: found.revision } : undefined;
}

export function* getHandle(id: string): Steps<Versioned<Handle> | undefined> {
  const found = yield* getLive({ kind: "handle", id }, ({ kind, value }) => kind === "handle" && value.isDeleted);
  if (found?.object.kind !== "handle") return undefined;
  return { value: found.object.value, revision: found.revision, made: found.made };
}

function* getLive(ref: Ref, isMarked: (object: Stored) => boolean): Steps<(Answer & { is: "found" }) | undefined> {
  for (let turn = 0; turn < mostTries; turn += 1) {
    const step: Step = { do: "get", ref };
    const answer = yield step;
    if (answer.is === "failed") throw new StepFailed(step, answer.error);
    if (answer.is !== "found") return undefined;
    if (!isMarked(answer.object)) return answer;
    if ((yield* remove(ref, answer.revision)) !== "conflict") return undefined;
  }
  throw new TooManyConflicts();
}

/** Undefined: it exists. */
export function* create(object: Stored): Steps<string | undefined> {
  const step: Step = { do: "create", object };
  const answer = yield step;
  if (answer.is === "failed") throw new StepFailed(step, answer.error);
  return answer.is === "written" ? answer.revision : undefined;
}

/** The new revision, or undefined: it has changed, or is gone. */
export function* update(object: Stored, revision: string): Steps<string | undefined> {
  const step: Step = { do: "update", object, revision };
  const answer = yield step;
  if (answer.is === "failed") throw new StepFailed(step, answer.error);
  return answer.is === "written" ? answer.revision : undefined;
}

export function* remove(ref: Ref, revision: string): Steps<"gone" | "conflict"> {
  const step: Step = { do: "delete", ref, revision };
  const answer = yield step;
  if (answer.is === "failed") throw new StepFailed(step, answer.error);
  return answer.is === "conflict" ? "conflict" : "gone";
}

export function* readClock(): Steps<bigint> {
  const step: Step = { do: "read the clock" };
  const answer = yield step;
  if (answer.is === "time") return answer.nowNs;
  throw new StepFailed(step, answer);
}

// How handles are raised before addresses are taken, and lowered after. A handle may be changed by others meanwhile: by a second
// request for the same container, and by a release, which drops what a handle counts and no block holds (release-by-handle.ts). So
// whoever has raised one and must start again takes its count back first, and raises it anew: then a release that has looked at the
// handle before finds it changed. In doubt a handle counts too much, never too little.
import { type Handle, isUnused, lowered, newHandle, raised } from "../handle.ts";
import {
  getHandle,
  mostTries,
  remove,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  triesAfterFailure,
  update,
  type Versioned,
} from "./step.ts";

type More = { readonly cidr: string; readonly count: number };

/** A handle that we have raised, as we wrote it. */
export type Counted = More & { readonly handle: Versioned<Handle> };

/** A handle is mostly new, so it is created first, and read only if it exists. */
export function* createHandle(id: string, { cidr, count }: More): Steps<Counted | "exists"> {
  const value = raised(newHandle(id), cidr, count);
  const step: Step = { do: "create", object: { kind: "handle", value } };
  for (let turn = 1; ; turn += 1) {
    const answer = yield step;
    if (answer.is === "written") return { cidr, count, handle: { value, revision: answer.revision } };
    // Perhaps it exists because of our own write that seemed to fail. Nobody knows, so it is raised once more.
    if (answer.is !== "failed") return "exists";
    if (turn === triesAfterFailure) throw new StepFailed(step, answer.error);
  }
}

export function* raiseHandle(id: string, { cidr, count }: More): Steps<Counted> {
  let failures = 0;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getHandle(id);
    const value = raised(found?.value ?? newHandle(id), cidr, count);
    const step: Step =
      found === undefined
        ? { do: "create", object: { kind: "handle", value } }
        : { do: "update", object: { kind: "handle", value }, revision: found.revision };
    const answer = yield step;
    if (answer.is === "written") return { cidr, count, handle: { value, revision: answer.revision } };
    if (answer.is !== "failed") continue;
    failures += 1;
    if (failures === triesAfterFailure) throw new StepFailed(step, answer.error);
  }
  throw new TooManyConflicts();
}

/**
 * If the handle has changed since we raised it, nobody knows whether our count is still in it, and taking it back might take
 * another's: it stays, and the handle's release drops it.
 */
export function* giveCountBack(counted: Counted | undefined): Steps<void> {
  if (counted === undefined) return;
  const { handle, cidr, count } = counted;
  yield* write(handle, lowered(handle.value, cidr, count).handle);
}

/**
 * After addresses were given back: the handle, as it was read before that, counts them no longer. One that counts nothing is
 * deleted. One that was dropped meanwhile and made anew is another's, and stays.
 */
export function* lowerHandle(before: Versioned<Handle>, given: readonly More[]): Steps<void> {
  if (given.length === 0) return;
  let found = before;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const next = given.reduce((handle, { cidr, count }) => lowered(handle, cidr, count).handle, found.value);
    if (yield* write(found, next)) return;
    const now = yield* getHandle(before.value.id);
    if (now === undefined || isRemade(before, now)) return;
    found = now;
  }
  throw new TooManyConflicts();
}

/** Known to be another object of the same name. */
export function isRemade(before: Versioned<Handle>, now: Versioned<Handle>): boolean {
  return before.made !== undefined && now.made !== undefined && before.made !== now.made;
}

function* write({ value, revision }: Versioned<Handle>, next: Handle): Steps<boolean> {
  if (isUnused(next)) return (yield* remove({ kind: "handle", id: value.id }, revision)) === "gone";
  return (yield* update({ kind: "handle", value: next }, revision)) !== undefined;
}

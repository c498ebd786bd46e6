// How handles are raised before addresses are taken, and lowered after. A handle may be changed by others meanwhile: by a second
// request for the same container, and by a release, which drops what a handle counts and no block holds. So whoever raised one
// remembers at which revision, and believes in its count only for as long as that has not changed: rather too much than too little.
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

/** What we have raised a handle by, and its revision after that. */
export type Counted = { readonly count: number; readonly revision: string };

type More = { readonly cidr: string; readonly count: number };

/** A handle is mostly new, so it is created first, and read only if it exists. */
export function* raiseHandle(
  id: string,
  { cidr, count, mayExist }: More & { readonly mayExist: boolean },
): Steps<Counted | "exists"> {
  const value = raised(newHandle(id), cidr, count);
  const step: Step = { do: "create", object: { kind: "handle", value } };
  let mayBeOurs = false;
  for (let turn = 1; ; turn += 1) {
    const answer = yield step;
    if (answer.is === "written") return { count, revision: answer.revision };
    if (answer.is !== "failed") break;
    if (turn === triesAfterFailure) throw new StepFailed(step, answer.error);
    mayBeOurs ||= answer.wasWritten === "perhaps";
  }
  if (mayBeOurs) {
    // A create of which we were told that it failed. Who else would count exactly this, counts the same container's.
    const found = yield* getHandle(id);
    if (found !== undefined && isSame(found.value, value)) return { count, revision: found.revision };
  }
  return mayExist ? yield* countedFor(id, { cidr, count, counted: undefined }) : "exists";
}

/** The handle counts for us what it shall: as it is, if it has not changed since we raised it; or raised again. */
export function* countedFor(
  id: string,
  { cidr, count, counted }: More & { readonly counted: Counted | undefined },
): Steps<Counted> {
  let failures = 0;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getHandle(id);
    const already = found !== undefined && found.revision === counted?.revision ? counted.count : 0;
    if (found !== undefined && already === count) return { count, revision: found.revision };
    const value = changed(found?.value ?? newHandle(id), { cidr, by: count - already });
    const step: Step =
      found === undefined
        ? { do: "create", object: { kind: "handle", value } }
        : { do: "update", object: { kind: "handle", value }, revision: found.revision };
    const answer = yield step;
    if (answer.is === "written") return { count, revision: answer.revision };
    if (answer.is !== "failed") continue;
    failures += 1;
    if (failures === triesAfterFailure) throw new StepFailed(step, answer.error);
  }
  throw new TooManyConflicts();
}

function changed(handle: Handle, { cidr, by }: { readonly cidr: string; readonly by: number }): Handle {
  return by >= 0 ? raised(handle, cidr, by) : lowered(handle, cidr, -by).handle;
}

function isSame(a: Handle, b: Handle): boolean {
  return a.blocks.size === b.blocks.size && [...a.blocks].every(([cidr, count]) => b.blocks.get(cidr) === count);
}

/**
 * Who leaves with nothing. If the handle has changed since, nobody knows whether our count is still in it, and taking it back might
 * take another's: it stays, and the handle's release drops it.
 */
export function* giveCountBack(id: string | undefined, cidr: string, counted: Counted | undefined): Steps<void> {
  if (id === undefined || counted === undefined) return;
  const found = yield* getHandle(id);
  if (found === undefined || found.revision !== counted.revision) return;
  yield* write(found, lowered(found.value, cidr, counted.count).handle);
}

/** After addresses were given back. One that counts nothing any more is deleted. */
export function* lowerHandle(id: string, cidr: string, count: number): Steps<void> {
  if (count <= 0) return;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getHandle(id);
    if (found === undefined) return;
    if (yield* write(found, lowered(found.value, cidr, count).handle)) return;
  }
  throw new TooManyConflicts();
}

function* write({ value, revision }: Versioned<Handle>, next: Handle): Steps<boolean> {
  if (isUnused(next)) return (yield* remove({ kind: "handle", id: value.id }, revision)) === "gone";
  return (yield* update({ kind: "handle", value: next }, revision)) !== undefined;
}

// Takes addresses in one block: the handle is raised first, then the block is written, so that no address is ever without a handle.
// If somebody else wrote the block, it is read and tried again with the handle as it is; who leaves with nothing lowers it.
import type { AddressRange } from "../../../base/lib/index.ts";
import { type Attribute, attributeAt, type Block, cidrOf, ordinalOf } from "../block.ts";
import { type Assigned, forWrite, type NotAssigned, sweep } from "../block-changes.ts";
import { isUnused, lowered, newHandle, raised } from "../handle.ts";
import {
  create,
  getBlock,
  getHandle,
  mostTries,
  readClock,
  remove,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  update,
  type Versioned,
} from "./step.ts";

export type InBlock = {
  /** Undefined: held under no name. */
  readonly handle: string | undefined;
  readonly attribute: Attribute;
  readonly cooldownSeconds: number;
  /** What is wanted of the block, swept; asked again after each conflict. */
  readonly choose: (block: Block) => Assigned | NotAssigned;
};

export type InBlockResult = Assigned | NotAssigned | { readonly is: "no-block" };

/** An answer without addresses: the block has none left. */
export function* assignInBlock(start: Versioned<Block>, request: InBlock): Steps<InBlockResult> {
  const cidr = cidrOf(start.value);
  let current: Versioned<Block> | undefined = start;
  let counted = 0;
  for (let turn = 0; turn < mostTries && current !== undefined; turn += 1) {
    const nowNs = yield* readClock();
    const wanted = request.choose(sweep(current.value, { nowNs, cooldownSeconds: request.cooldownSeconds }));
    if (wanted.is === "refused" || wanted.addresses.length === 0) {
      yield* lowerHandle(request.handle, cidr, counted);
      return wanted;
    }
    const more: number = wanted.addresses.length - counted;
    yield* raiseHandle(request.handle, cidr, more);
    yield* lowerHandle(request.handle, cidr, -more);
    counted = wanted.addresses.length;
    const outcome = yield* writeBlock(wanted, current, request);
    if (outcome.is === "written") return wanted;
    if (outcome.is === "failed") {
      // After "perhaps" the write may still happen, and a handle that counts too much is better than an address without one.
      if (outcome.wasWritten === "no") yield* lowerHandle(request.handle, cidr, counted);
      throw new StepFailed(outcome.step, outcome.error);
    }
    current = yield* getBlock(cidr);
  }
  yield* lowerHandle(request.handle, cidr, counted);
  if (current === undefined) return { is: "no-block" };
  throw new TooManyConflicts();
}

type Written =
  | { readonly is: "written" | "changed" }
  | { readonly is: "failed"; readonly step: Step; readonly error: unknown; readonly wasWritten: "no" | "perhaps" };

/** The original goes on to another block after a failed write; here the same one is tried again. */
const triesAfterFailure = 3;

function* writeBlock(wanted: Assigned, { revision }: Versioned<Block>, request: InBlock): Steps<Written> {
  const value = forWrite(wanted.block);
  const step: Step = { do: "update", object: { kind: "block", value }, revision };
  let wasWritten: "no" | "perhaps" = "no";
  for (let turn = 1; ; turn += 1) {
    const answer = yield step;
    if (answer.is === "written") return { is: "written" };
    if (answer.is !== "failed") {
      // Our own write, of which we were told that it failed, may be what changed the block.
      if (wasWritten === "no" || !(yield* isOurs(wanted, request))) return { is: "changed" };
      return { is: "written" };
    }
    if (answer.wasWritten === "perhaps") wasWritten = "perhaps";
    if (turn === triesAfterFailure) return { is: "failed", step, error: answer.error, wasWritten };
  }
}

/** Whether the stored block has these addresses, taken at that number by us. */
function* isOurs({ block, addresses }: Assigned, { attribute }: InBlock): Steps<boolean> {
  const stored = yield* getBlock(cidrOf(block));
  if (stored === undefined) return false;
  return addresses.every((address) => isHeldAs(stored.value, address, { attribute, number: block.sequenceNumber }));
}

function isHeldAs(
  block: Block,
  address: AddressRange,
  { attribute, number }: { readonly attribute: Attribute; readonly number: bigint },
): boolean {
  const ordinal = ordinalOf(block, address);
  const index = ordinal === undefined ? null : (block.allocations[ordinal] ?? null);
  if (ordinal === undefined || index === null) return false;
  return block.sequenceNumbers.get(ordinal) === number && attributeAt(block, index).handle_id === attribute.handle_id;
}

/** A handle is mostly new, so it is created first and read only if it exists. */
export function* raiseHandle(id: string | undefined, cidr: string, count: number): Steps<void> {
  if (id === undefined || count <= 0) return;
  for (let turn = 0; turn < mostTries; turn += 1) {
    if ((yield* create({ kind: "handle", value: raised(newHandle(id), cidr, count) })) !== undefined) return;
    const found = yield* getHandle(id);
    if (found === undefined) continue;
    if ((yield* update({ kind: "handle", value: raised(found.value, cidr, count) }, found.revision)) !== undefined)
      return;
  }
  throw new TooManyConflicts();
}

/** One that counts nothing any more is deleted. */
export function* lowerHandle(id: string | undefined, cidr: string, count: number): Steps<void> {
  if (id === undefined || count <= 0) return;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getHandle(id);
    if (found === undefined) return;
    const { handle } = lowered(found.value, cidr, count);
    if (isUnused(handle)) {
      if ((yield* remove({ kind: "handle", id }, found.revision)) === "gone") return;
    } else if ((yield* update({ kind: "handle", value: handle }, found.revision)) !== undefined) return;
  }
  throw new TooManyConflicts();
}

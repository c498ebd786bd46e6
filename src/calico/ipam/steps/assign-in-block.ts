// Takes addresses in one block: the handle is raised first, then the block is written, so that no address is ever without a handle.
// If somebody else wrote the block, the handle is lowered, and all is tried again. steps/handles.ts has how a handle is raised and
// lowered, and why it is not kept as it is.
import type { AddressRange } from "../../../base/lib/index.ts";
import { type Attribute, attributeAt, type Block, cidrOf, ordinalOf } from "../block.ts";
import { type Assigned, forWrite, type NotAssigned, sweep } from "../block-changes.ts";
import { type Counted, createHandle, giveCountBack, raiseHandle } from "./handles.ts";
import { type HeldAddress, heldElsewhere } from "./look-up.ts";
import {
  getBlock,
  mostTries,
  readClock,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  triesAfterFailure,
  type Versioned,
} from "./step.ts";

export type InBlock = {
  /** Undefined: held under no name. */
  readonly handle: string | undefined;
  readonly attribute: Attribute;
  readonly cooldownSeconds: number;
  /** What is wanted of the block, swept; asked again after each conflict. */
  readonly choose: (block: Block) => Assigned | NotAssigned;
  /** Who may ask twice: which addresses of a block the request has already. They are the answer then. */
  readonly held?: (block: Block) => readonly HeldAddress[];
};

export type InBlockResult =
  | Assigned
  | NotAssigned
  | { readonly is: "no-block" }
  | { readonly is: "held"; readonly held: readonly HeldAddress[] };

/** An answer without addresses: the block has none left. */
export function* assignInBlock(start: Versioned<Block>, request: InBlock): Steps<InBlockResult> {
  const cidr = cidrOf(start.value);
  let current: Versioned<Block> | undefined = start;
  for (let turn = 0; turn < mostTries; turn += 1) {
    if (current === undefined) return { is: "no-block" };
    const nowNs = yield* readClock();
    const block = sweep(current.value, { nowNs, cooldownSeconds: request.cooldownSeconds });
    const held = request.held?.(block) ?? [];
    if (held.length > 0) return { is: "held", held };
    const wanted = request.choose(block);
    if (wanted.is === "refused" || wanted.addresses.length === 0) return wanted;
    const counted = yield* countWanted({ cidr, count: wanted.addresses.length }, request);
    if (counted.is === "held") return counted;
    const outcome = yield* writeBlock(wanted, current, request);
    if (outcome.is === "written") return wanted;
    if (outcome.is === "failed") {
      // After "perhaps" the write may still happen, and a handle that counts too much is better than an address without one.
      if (outcome.wasWritten === "no") yield* quietly(giveCountBack(counted.raised));
      throw new StepFailed(outcome.step, outcome.error);
    }
    yield* giveCountBack(counted.raised);
    current = yield* getBlock(cidr);
  }
  throw new TooManyConflicts();
}

type Counting =
  | { readonly is: "counted"; readonly raised: Counted | undefined }
  | { readonly is: "held"; readonly held: readonly HeldAddress[] };

/** The handle, raised; or addresses that it has already, in whichever block. */
function* countWanted(more: { cidr: string; count: number }, { handle, held }: InBlock): Steps<Counting> {
  if (handle === undefined) return { is: "counted", raised: undefined };
  const created = yield* createHandle(handle, more);
  if (created !== "exists") return { is: "counted", raised: created };
  const found = held === undefined ? [] : yield* heldElsewhere(handle, held);
  if (found.length > 0) return { is: "held", held: found };
  return { is: "counted", raised: yield* raiseHandle(handle, more) };
}

/** Tidying up must not hide why there is something to tidy up. */
function* quietly(steps: Steps<void>): Steps<void> {
  try {
    yield* steps;
  } catch (error) {
    if (!(error instanceof StepFailed || error instanceof TooManyConflicts)) throw error;
  }
}

type Written =
  | { readonly is: "written" | "changed" }
  | { readonly is: "failed"; readonly step: Step; readonly error: unknown; readonly wasWritten: "no" | "perhaps" };

/** The original goes on to another block after a failed write; here the same one is tried again. */
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

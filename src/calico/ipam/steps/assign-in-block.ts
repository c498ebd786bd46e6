// Takes addresses in one block: the handle is raised first, then the block is written, so that no address is ever without a handle.
// If somebody else wrote the block, it is read and tried again with the handle as it is; who leaves with nothing lowers it.
// steps/handles.ts has how a handle is raised and lowered.
import type { AddressRange } from "../../../base/lib/index.ts";
import { type Attribute, attributeAt, type Block, cidrOf, ordinalOf } from "../block.ts";
import { type Assigned, forWrite, type NotAssigned, sweep } from "../block-changes.ts";
import { type Counted, countedFor, giveCountBack, raiseHandle } from "./handles.ts";
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
  const { handle } = request;
  const cidr = cidrOf(start.value);
  let current: Versioned<Block> | undefined = start;
  let counted: Counted | undefined;
  for (let turn = 0; turn < mostTries && current !== undefined; turn += 1) {
    const nowNs = yield* readClock();
    const block = sweep(current.value, { nowNs, cooldownSeconds: request.cooldownSeconds });
    const wanted = request.choose(block);
    const held = request.held?.(block) ?? [];
    if (held.length > 0 || wanted.is === "refused" || wanted.addresses.length === 0) {
      yield* giveCountBack(handle, cidr, counted);
      return held.length > 0 ? { is: "held", held } : wanted;
    }
    const raised = yield* countWanted({ cidr, count: wanted.addresses.length, counted }, request);
    if (Array.isArray(raised)) return { is: "held", held: raised };
    counted = raised;
    const outcome = yield* writeBlock(wanted, current, request);
    if (outcome.is === "written") return wanted;
    if (outcome.is === "failed") {
      // After "perhaps" the write may still happen, and a handle that counts too much is better than an address without one.
      if (outcome.wasWritten === "no") yield* quietly(giveCountBack(handle, cidr, counted));
      throw new StepFailed(outcome.step, outcome.error);
    }
    current = yield* getBlock(cidr);
  }
  yield* giveCountBack(handle, cidr, counted);
  if (current === undefined) return { is: "no-block" };
  throw new TooManyConflicts();
}

/** Addresses that the handle has already, in whichever block; or the handle, raised. */
function* countWanted(
  { cidr, count, counted }: { cidr: string; count: number; counted: Counted | undefined },
  { handle, held }: InBlock,
): Steps<Counted | HeldAddress[] | undefined> {
  if (handle === undefined) return undefined;
  if (counted !== undefined) return yield* countedFor(handle, { cidr, count, counted });
  const raised = yield* raiseHandle(handle, { cidr, count, mayExist: held === undefined });
  if (raised !== "exists") return raised;
  const found = held === undefined ? [] : yield* heldElsewhere(handle, held);
  return found.length > 0 ? found : yield* countedFor(handle, { cidr, count, counted: undefined });
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

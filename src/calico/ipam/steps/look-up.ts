// Questions that change nothing: what a handle holds, and who holds an address.
import { type AddressRange, addressText, type Family, holds, rangeText } from "../../../base/lib/index.ts";
import { type Attribute, addressOf, attributeAt, type Block, isSameHandle, ordinalOf } from "../block.ts";
import { forWrite, sweep } from "../block-changes.ts";
import { blockOf } from "../block-order.ts";
import { type Pool, poolOf } from "../pools.ts";
import {
  getBlock,
  getHandle,
  mostTries,
  readClock,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  update,
} from "./step.ts";

export type HeldAddress = {
  readonly address: AddressRange;
  readonly block: AddressRange;
  readonly attribute: Attribute;
};

/** Undefined: there is no such handle. */
export function* heldByHandle(id: string): Steps<readonly HeldAddress[] | undefined> {
  const handle = yield* getHandle(id);
  if (handle === undefined) return undefined;
  const held: HeldAddress[] = [];
  for (const cidr of handle.value.blocks.keys()) {
    const block = yield* getBlock(cidr);
    if (block !== undefined) held.push(...heldIn(block.value, id));
  }
  return held;
}

/** What a block holds for a handle, in the order of addresses. */
export function heldIn(block: Block, id: string): HeldAddress[] {
  return block.allocations.flatMap((index, ordinal) => {
    const attribute = index === null ? undefined : attributeAt(block, index);
    if (attribute === undefined || !isSameHandle(attribute.handle_id, id)) return [];
    return [{ address: addressOf(block, ordinal), block: block.range, attribute }];
  });
}

/** Of all blocks of a handle, what `held` finds in them. */
export function* heldElsewhere(id: string, held: (block: Block) => readonly HeldAddress[]): Steps<HeldAddress[]> {
  const handle = yield* getHandle(id);
  const found: HeldAddress[] = [];
  for (const cidr of handle?.value.blocks.keys() ?? []) {
    const block = yield* getBlock(cidr);
    if (block !== undefined) found.push(...held(block.value));
  }
  return found;
}

export type Assignment =
  | {
      readonly is: "assigned";
      readonly attribute: Attribute;
      readonly block: Block;
      /** The block's number when it was taken, with which it can be released for certain. */
      readonly sequenceNumber: bigint | undefined;
    }
  /** Given back, and not free before its time. */
  | { readonly is: "waiting"; readonly block: Block; readonly releasedAt: string }
  | { readonly is: "free"; readonly block: Block }
  | { readonly is: "no-block" }
  | { readonly is: "no-pool"; readonly says: string };

export function* assignmentOf(address: AddressRange, pools: readonly Pool[]): Steps<Assignment> {
  const pool = poolOf(pools, address, "any");
  const range = pool === undefined ? yield* blockAround(address) : blockOf(pool, address);
  if (range === undefined) {
    const says = `${addressText(address.family, address.first)} is not part of a configured pool`;
    return { is: "no-pool", says };
  }
  const found = yield* getBlock(rangeText(range));
  if (found === undefined) return { is: "no-block" };
  const block = found.value;
  const ordinal = ordinalOf(block, address) ?? 0;
  const index = block.allocations[ordinal] ?? null;
  if (index === null) return { is: "free", block };
  const attribute = attributeAt(block, index);
  if (attribute.releasedAt !== undefined) return { is: "waiting", block, releasedAt: attribute.releasedAt };
  return { is: "assigned", attribute, block, sequenceNumber: block.sequenceNumbers.get(ordinal) };
}

export function* listAllBlocks(family: Family): Steps<readonly Block[]> {
  const step: Step = { do: "list blocks", family };
  const answer = yield step;
  if (answer.is !== "listed") throw new StepFailed(step, answer.is === "failed" ? answer.error : answer);
  return answer.objects.flatMap(({ object }) => (object.kind === "block" ? [object.value] : []));
}

/** An address of a pool that is gone is looked for in all blocks. */
function* blockAround(address: AddressRange): Steps<AddressRange | undefined> {
  return (yield* listAllBlocks(address.family)).find(({ range }) => holds(range, address))?.range;
}

/** Frees the addresses of a block that have waited long enough, without waiting for somebody to use it. How many there were. */
export function* collectCold(cidr: string, cooldownSeconds: number): Steps<number> {
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getBlock(cidr);
    if (found === undefined) return 0;
    const swept = sweep(found.value, { nowNs: yield* readClock(), cooldownSeconds });
    const freed = swept.unallocated.length - found.value.unallocated.length;
    if (freed === 0) return 0;
    const written = yield* update({ kind: "block", value: forWrite(swept) }, found.revision);
    if (written !== undefined) return freed;
  }
  throw new TooManyConflicts();
}

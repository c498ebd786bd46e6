// What is done to a block: addresses are taken, named ones too, and given back. Each function answers a new block that is not
// written yet: several changes may share a write, and `forWrite` counts that write. Whoever uses a block that was read sweeps it
// first, which frees the addresses that have waited long enough.
import { type AddressRange, rangeText, sizeOf } from "../../base/lib/index.ts";
import {
  type Attribute,
  addressOf,
  attributeAt,
  type Block,
  cidrOf,
  freeOrdinals,
  isSameHandle,
  ordinalOf,
} from "./block.ts";
import type { Reservations } from "./reservations.ts";

/** When it is, and how long an address waits between two holders. */
export type Waiting = { readonly nowNs: bigint; readonly cooldownSeconds: number };

/** A block begins with the time as its number, so that one made again never repeats a number. */
export function newBlock({ range, owner, nowNs }: { range: AddressRange; owner: string; nowNs: bigint }): Block {
  const size = Number(sizeOf(range));
  return {
    range,
    owner,
    claimTime: timeText(nowNs),
    allocations: new Array<null>(size).fill(null),
    unallocated: Array.from({ length: size }, (_, ordinal) => ordinal),
    attributes: [],
    sequenceNumber: nowNs,
    sequenceNumbers: new Map(),
    isDeleted: false,
  };
}

/** The block as an update stores it: every update adds one, so that whoever read it before loses. */
export function forWrite(block: Block): Block {
  return { ...block, sequenceNumber: block.sequenceNumber + 1n };
}

export function withoutOwner(block: Block): Block {
  return { ...block, owner: undefined, claimTime: undefined };
}

export function sweep(block: Block, { nowNs, cooldownSeconds }: Waiting): Block {
  const isOver = block.attributes.map(({ releasedAt }) => {
    if (releasedAt === undefined || releasedAt === "") return false;
    return nowNs - BigInt(Date.parse(releasedAt)) * 1_000_000n >= BigInt(cooldownSeconds) * 1_000_000_000n;
  });
  const freed = block.allocations.flatMap((index, ordinal) => (index !== null && isOver[index] ? [ordinal] : []));
  const gone = new Set(freed);
  return compacted({
    ...block,
    allocations: block.allocations.map((index, ordinal) => (gone.has(ordinal) ? null : index)),
    unallocated: [...block.unallocated, ...freed],
    sequenceNumbers: new Map([...block.sequenceNumbers].filter(([ordinal]) => !gone.has(ordinal))),
  });
}

export type Holder = { readonly attribute: Attribute; readonly owner: string; readonly strictAffinity: boolean };
export type NotAssigned = {
  readonly is: "refused";
  readonly reason: "not-our-block" | "block-without-owner" | "taken" | "not-in-block";
  readonly says: string;
};
export type Assigned = { readonly is: "assigned"; readonly block: Block; readonly addresses: readonly AddressRange[] };

/** As many as there are, from the front of the queue; reserved ones stay where they are. None is an answer, too. */
export function assign(
  block: Block,
  { count, reservations, ...holder }: Holder & { readonly count: number; readonly reservations: Reservations },
): Assigned | NotAssigned {
  const refusal = refusedBy(block, holder);
  if (refusal !== undefined) return refusal;
  const ordinals = freeOrdinals(block, reservations).slice(0, count);
  return {
    is: "assigned",
    block: ordinals.length === 0 ? block : allocated(block, ordinals, holder.attribute),
    addresses: ordinals.map((ordinal) => addressOf(block, ordinal)),
  };
}

/** Reservations do not count: who names an address means it. */
export function assignNamed(block: Block, address: AddressRange, holder: Holder): Assigned | NotAssigned {
  const ordinal = ordinalOf(block, address);
  if (ordinal === undefined) {
    return { is: "refused", reason: "not-in-block", says: `${rangeText(address)} is not in block ${cidrOf(block)}` };
  }
  const refusal = refusedBy(block, holder);
  if (refusal !== undefined) return refusal;
  if (block.allocations[ordinal] !== null) {
    return { is: "refused", reason: "taken", says: "Address already assigned in block" };
  }
  return {
    is: "assigned",
    block: allocated(block, [ordinal], holder.attribute),
    addresses: [addressOf(block, ordinal)],
  };
}

/** All that a handle holds. The numbers of addresses that wait stay as they were. */
export function releaseByHandle(
  block: Block,
  { handle, ...waiting }: Waiting & { readonly handle: string },
): { readonly block: Block; readonly released: readonly AddressRange[] } {
  const ordinals = block.allocations.flatMap((index, ordinal) =>
    index !== null && isSameHandle(attributeAt(block, index).handle_id, handle) ? [ordinal] : [],
  );
  if (ordinals.length === 0) return { block, released: [] };
  return {
    block: sweep(pointedToRelease(block, ordinals, waiting.nowNs), waiting),
    released: ordinals.map((ordinal) => addressOf(block, ordinal)),
  };
}

export type ReleaseRequest = {
  readonly address: AddressRange;
  /** Given: it must be the one that holds the address. */
  readonly handle?: string;
  readonly sequenceNumber?: bigint;
};
export type Released =
  | {
      readonly is: "released";
      readonly block: Block;
      readonly countByHandle: ReadonlyMap<string, number>;
      /** Not held by anybody, or waiting already. */
      readonly notAllocated: readonly AddressRange[];
    }
  | { readonly is: "conflict"; readonly says: string };

/** Addresses of one block, all or none. The numbers of addresses that wait become the block's. */
export function releaseAddresses(block: Block, requests: readonly ReleaseRequest[], waiting: Waiting): Released {
  const ordinals = new Set<number>();
  const countByHandle = new Map<string, number>();
  const notAllocated: AddressRange[] = [];
  for (const request of requests) {
    const ordinal = ordinalOf(block, request.address);
    if (ordinal !== undefined && ordinals.has(ordinal)) continue;
    const index = ordinal === undefined ? null : (block.allocations[ordinal] ?? null);
    if (ordinal === undefined || index === null || attributeAt(block, index).releasedAt !== undefined) {
      notAllocated.push(request.address);
      continue;
    }
    const held = attributeAt(block, index).handle_id;
    const says = mismatch(request, { handle: held, sequenceNumber: block.sequenceNumbers.get(ordinal) ?? 0n });
    if (says !== undefined) return { is: "conflict", says };
    ordinals.add(ordinal);
    if (held !== undefined) countByHandle.set(held, (countByHandle.get(held) ?? 0) + 1);
  }
  if (ordinals.size === 0) return { is: "released", block, countByHandle, notAllocated };
  const numbers = new Map(block.sequenceNumbers);
  for (const ordinal of ordinals) numbers.set(ordinal, block.sequenceNumber);
  const pointed = pointedToRelease({ ...block, sequenceNumbers: numbers }, [...ordinals], waiting.nowNs);
  return { is: "released", block: sweep(pointed, waiting), countByHandle, notAllocated };
}

function mismatch(
  asked: ReleaseRequest,
  held: { readonly handle: string | undefined; readonly sequenceNumber: bigint },
): string | undefined {
  if (asked.sequenceNumber !== undefined && asked.sequenceNumber !== held.sequenceNumber) {
    return `the given sequence number (${asked.sequenceNumber}) does not match (${held.sequenceNumber}) when attempting to release IP`;
  }
  if (asked.handle !== undefined && !isSameHandle(held.handle, asked.handle)) {
    return `the given handle (${asked.handle}) does not match (${held.handle ?? ""}) when attempting to release IP`;
  }
  return undefined;
}

function refusedBy(block: Block, { owner, strictAffinity }: Omit<Holder, "attribute">): NotAssigned | undefined {
  if (!strictAffinity || block.owner === owner) return undefined;
  if (block.owner === undefined) {
    const says = `Attempt to assign from block ${cidrOf(block)} with no affinity`;
    return { is: "refused", reason: "block-without-owner", says };
  }
  return { is: "refused", reason: "not-our-block", says: "Block host affinity does not match" };
}

function allocated(block: Block, ordinals: readonly number[], attribute: Attribute): Block {
  const known = block.attributes.findIndex((each) => isSameAttribute(each, attribute));
  const index = known < 0 ? block.attributes.length : known;
  const numbers = new Map(block.sequenceNumbers);
  for (const ordinal of ordinals) numbers.set(ordinal, block.sequenceNumber);
  return {
    ...block,
    attributes: known < 0 ? [...block.attributes, attribute] : block.attributes,
    allocations: block.allocations.map((held, ordinal) => (ordinals.includes(ordinal) ? index : held)),
    unallocated: block.unallocated.filter((ordinal) => !ordinals.includes(ordinal)),
    sequenceNumbers: numbers,
  };
}

function pointedToRelease(block: Block, ordinals: readonly number[], nowNs: bigint): Block {
  const index = block.attributes.length;
  return {
    ...block,
    attributes: [...block.attributes, { releasedAt: timeText(nowNs) }],
    allocations: block.allocations.map((held, ordinal) => (ordinals.includes(ordinal) ? index : held)),
  };
}

/** Attributes that nobody points to are dropped; the others keep their order. */
function compacted(block: Block): Block {
  const used = [...new Set(block.allocations)].filter((index) => index !== null).sort((a, b) => a - b);
  if (used.length === block.attributes.length) return block;
  const renumbered = new Map(used.map((index, at) => [index, at]));
  return {
    ...block,
    attributes: used.map((index) => attributeAt(block, index)),
    allocations: block.allocations.map((index) => (index === null ? null : (renumbered.get(index) ?? null))),
  };
}

function isSameAttribute(a: Attribute, b: Attribute): boolean {
  return (
    a.handle_id === b.handle_id &&
    a.releasedAt === b.releasedAt &&
    isSameMap(a.secondary, b.secondary) &&
    isSameMap(a.alternateOwnerAttrs, b.alternateOwnerAttrs)
  );
}

function isSameMap(a: { readonly [name: string]: string } = {}, b: { readonly [name: string]: string } = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** RFC 3339, whole seconds. */
export function timeText(nowNs: bigint): string {
  return new Date(Number(nowNs / 1_000_000_000n) * 1000).toISOString().replace(".000Z", "Z");
}

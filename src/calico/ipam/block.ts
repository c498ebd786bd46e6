// A block as it is stored: which ordinals are held, by whom, and in which order the free ones will be used. Here is its shape,
// how it is read and written, and what is asked of it; block-changes.ts has what changes it.
//
//   allocations   [ 0, null, 1, null ]        ordinal -> index into attributes
//   attributes    [ {handle a}, {handle b} ]  who holds it; {releasedAt} is an address that waits before it is free again
//   unallocated   [ 3, 1 ]                    a queue: taken from the front, given back at the end
//   sequenceNumberForAllocation { "0": …, "2": … }   the block's number when the ordinal was taken

import { type AddressRange, addressText, parseRange, sizeOf } from "../../base/lib/index.ts";
import type { IpamBlockSpec } from "../kinds/index.ts";
import { isReserved, type Reservations } from "./reservations.ts";

type TextMap = { readonly [name: string]: string };
export type Attribute = {
  readonly handle_id?: string;
  readonly secondary?: TextMap;
  readonly alternateOwnerAttrs?: TextMap;
  readonly releasedAt?: string;
};

export type Block = {
  readonly range: AddressRange;
  /** host:NODE or virtual:load-balancer; undefined: nobody's. */
  readonly owner: string | undefined;
  readonly claimTime: string | undefined;
  readonly allocations: readonly (number | null)[];
  readonly unallocated: readonly number[];
  readonly attributes: readonly Attribute[];
  readonly sequenceNumber: bigint;
  readonly sequenceNumbers: ReadonlyMap<number, bigint>;
  readonly isDeleted: boolean;
};

export type ReadBlock =
  | { readonly is: "block"; readonly block: Block }
  | { readonly is: "invalid"; readonly field: string; readonly why: string };

/** The smallest prefix lengths that the kind allows: 20 and 116. */
export const mostAddresses = 4096n;

/** What was stored by others is checked as far as our changes rely on it. */
export function readBlock(spec: IpamBlockSpec): ReadBlock {
  const range = parseRange(spec.cidr ?? "");
  if (range === undefined) return invalid("cidr", "must be a CIDR");
  if (sizeOf(range) > mostAddresses) return invalid("cidr", `must have at most ${mostAddresses} addresses`);
  const size = Number(sizeOf(range));
  const block = blockAsStored(range, spec);
  const { attributes, allocations, unallocated } = block;
  if (allocations.length !== size) return invalid("allocations", `must have ${size} entries`);
  if (allocations.some((index) => index !== null && attributes[index] === undefined)) {
    return invalid("allocations", "must point into attributes");
  }
  const free = new Set(unallocated);
  if (free.size !== unallocated.length) return invalid("unallocated", "must have no ordinal twice");
  if (unallocated.some((ordinal) => allocations[ordinal] !== null)) {
    return invalid("unallocated", "must have only ordinals of the block that are not allocated");
  }
  return { is: "block", block };
}

/** With whatever is wrong inside. */
export function blockAsStored(range: AddressRange, spec: IpamBlockSpec): Block {
  const numbers = Object.entries(spec.sequenceNumberForAllocation ?? {});
  return {
    range,
    owner: spec.affinity === "" ? undefined : spec.affinity,
    claimTime: spec.affinityClaimTime === "" ? undefined : spec.affinityClaimTime,
    allocations: (spec.allocations ?? []).map((index) => (index === null ? null : Number(index))),
    unallocated: (spec.unallocated ?? []).map(Number),
    attributes: (spec.attributes ?? []) as readonly Attribute[], // the schema has members that may be undefined
    sequenceNumber: BigInt(spec.sequenceNumber ?? 0),
    sequenceNumbers: new Map(numbers.map(([ordinal, number]) => [Number(ordinal), BigInt(number)])),
    isDeleted: spec.deleted === true,
  };
}

/** As the v3 object has it; calico/resources writes each datastore's form of that. */
export function blockSpec(block: Block): IpamBlockSpec {
  const numbers = [...block.sequenceNumbers].sort(([a], [b]) => a - b);
  return {
    cidr: cidrOf(block),
    affinity: block.owner,
    affinityClaimTime: block.claimTime,
    strictAffinity: false,
    allocations: [...block.allocations],
    unallocated: [...block.unallocated],
    attributes: block.attributes.map((attribute) => ({ ...attribute })),
    sequenceNumber: block.sequenceNumber,
    sequenceNumberForAllocation: Object.fromEntries(numbers.map(([ordinal, number]) => [String(ordinal), number])),
    deleted: block.isDeleted,
  };
}

export function cidrOf({ range }: Block): string {
  return `${addressText(range.family, range.first)}/${range.prefixLength}`;
}

export function addressOf({ range }: Block, ordinal: number): AddressRange {
  return { family: range.family, first: range.first + BigInt(ordinal), prefixLength: range.family === 4 ? 32 : 128 };
}

/** Undefined: the address is not in the block. */
export function ordinalOf({ range }: Block, address: AddressRange): number | undefined {
  const offset = address.first - range.first;
  if (address.family !== range.family || offset < 0n || offset >= sizeOf(range)) return undefined;
  return Number(offset);
}

/** In the order in which they will be used. */
export function freeOrdinals(block: Block, reservations: Reservations): number[] {
  return block.unallocated.filter((ordinal) => !isReserved(reservations, addressOf(block, ordinal)));
}

const windowsHandle = "windows-reserved-ipam-handle";

/** Addresses that Windows keeps for itself do not count; one that waits after its release does. */
export function isEmpty(block: Block): boolean {
  return block.allocations.every((index) => index === null || attributeAt(block, index).handle_id === windowsHandle);
}

export function attributeAt(block: Block, index: number): Attribute {
  return block.attributes[index] ?? {};
}

/** Migrated data may have a carriage return and more behind a handle. */
export function isSameHandle(a: string | undefined, b: string): boolean {
  return a !== undefined && handleText(a) === handleText(b);
}

export function handleText(handle: string): string {
  return handle.split("\r", 1)[0] ?? "";
}

function invalid(field: string, why: string): ReadBlock {
  return { is: "invalid", field: `spec.${field}`, why };
}

// IPAMBlock: which addresses of a block are in use, and by whom.
import { goNumber } from "../go-json.ts";
import { int64 } from "../read-json.ts";
import { time } from "../scalars.ts";
import {
  flag,
  integer,
  kept,
  list,
  map,
  nullableList,
  optional,
  required,
  type Schema,
  type SchemaType,
  scalar,
  struct,
  text,
} from "../schema.ts";

/** Sequence numbers start as nanoseconds since 1970, beyond what a double holds: parseJson keeps them as bigint. */
const uint64: Schema<number | bigint> = scalar<number | bigint>({
  read: (value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
    return typeof value === "bigint" && value >= 0n && value < 1n << 64n ? value : undefined;
  },
  rule: "must be a whole number from 0 to 2^64-1",
  go: goNumber,
  crd: { type: "integer", format: "int64" },
});

const allocationAttribute = struct({
  handle_id: optional(text()),
  secondary: map(text()),
  alternateOwnerAttrs: map(text()),
  releasedAt: optional(time),
});

export const ipamBlockSpec = struct({
  cidr: required(kept(text())),
  affinity: optional(text()),
  affinityClaimTime: optional(time),
  strictAffinity: required(kept(flag())),
  allocations: required(kept(nullableList(integer(int64)))),
  unallocated: required(kept(list(integer(int64)))),
  attributes: required(kept(list(allocationAttribute))),
  deleted: flag(),
  sequenceNumber: kept({ ...uint64, crd: { ...uint64.crd, default: 0 } }),
  sequenceNumberForAllocation: map(uint64),
});
export type IpamBlockSpec = SchemaType<typeof ipamBlockSpec>;

/** The block as clients read it, which is also how etcd holds it. */
export const allocationBlock = struct({
  cidr: kept(text()),
  affinity: kept(optional(text())),
  affinity_claim_time: optional(time),
  allocations: kept(nullableList(integer(int64))),
  unallocated: kept(list(integer(int64))),
  attributes: kept(list(allocationAttribute)),
  sequenceNumber: kept(uint64),
  sequenceNumberForAllocation: kept(map(uint64)),
  deleted: kept(flag()),
  hostAffinity: optional(text()),
});
export type AllocationBlock = SchemaType<typeof allocationBlock>;

// IPAMBlock: which addresses of a block are in use, and by whom.
import { int64, uint64 } from "../read-json.ts";
import { time } from "../scalars.ts";
import {
  type CrdSchema,
  flag,
  integer,
  kept,
  list,
  map,
  nullableList,
  optional,
  required,
  type SchemaType,
  struct,
  text,
} from "../schema.ts";

/** They start as nanoseconds since 1970. */
const sequenceNumber = (crd: CrdSchema = {}) => integer(uint64, { format: "int64", ...crd });

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
  sequenceNumber: kept(sequenceNumber({ default: 0 })),
  sequenceNumberForAllocation: map(sequenceNumber()),
  deleted: kept(flag()),
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
  sequenceNumber: kept(sequenceNumber()),
  sequenceNumberForAllocation: kept(map(sequenceNumber())),
  deleted: kept(flag()),
  hostAffinity: optional(text()),
});
export type AllocationBlock = SchemaType<typeof allocationBlock>;

// IPAMBlock: which addresses of a block are in use, and by whom.
import {
  type CrdSchema,
  flag,
  int64,
  integer,
  kept,
  lazy,
  list,
  map,
  nullableList,
  optional,
  required,
  type SchemaType,
  struct,
  text,
  time,
  uint64,
} from "../../model/index.ts";
import { followedResource } from "../kind.ts";

/** They start as nanoseconds since 1970. */
const sequenceNumber = (crd: CrdSchema = {}) => integer(uint64, { format: "int64", ...crd });

const allocationAttribute = lazy(() =>
  struct({
    handle_id: optional(text()),
    secondary: map(text()),
    alternateOwnerAttrs: map(text()),
    releasedAt: optional(time),
  }),
);

export const ipamBlockSpec = lazy(() =>
  struct({
    cidr: required(kept(text())),
    affinity: optional(text()),
    affinityClaimTime: optional(time),
    strictAffinity: required(kept(flag())),
    allocations: required(kept(nullableList(integer(int64)))),
    unallocated: required(kept(list(integer(int64)))),
    attributes: required(kept(list(allocationAttribute))),
    sequenceNumber: kept(sequenceNumber({ default: 0 })),
    // The original writes it also when nothing is in it.
    sequenceNumberForAllocation: optional(map(sequenceNumber())),
    deleted: kept(flag()),
  }),
);
export type IpamBlockSpec = SchemaType<typeof ipamBlockSpec>;

/** The block as clients read it, which is also how etcd holds it. */
export const allocationBlock = lazy(() =>
  struct({
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
  }),
);
export type AllocationBlock = SchemaType<typeof allocationBlock>;

const atomic = { "x-kubernetes-list-type": "atomic" };

export const ipamBlock = followedResource("IPAMBlock", {
  carries: "enforcement",
  etcdPrefix: "/calico/ipam/v2/assignment/",
  rights: {
    node: ["get", "list", "create", "update", "delete"],
    cni: ["get", "list", "create", "update", "delete"],
    ctl: ["get", "list", "update", "delete"],
  },
  schema: { spec: ipamBlockSpec },
  newGroup: {
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["Affinity", ".spec.affinity", "string"],
      ["ClaimTime", ".spec.affinityClaimTime", "date"],
    ],
    spec: {
      cidr: { format: "cidr" },
      affinity: { pattern: "^(host|virtual):[a-zA-Z0-9\\.\\-_]+$" },
      allocations: atomic,
      unallocated: atomic,
      attributes: atomic,
    },
  },
});

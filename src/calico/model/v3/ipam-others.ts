// Kinds of IPAM that no client is told of: how addresses are handed out, to whom, and which are kept back.
import { int64 } from "../read-json.ts";
import { flag, integer, kept, list, map, optional, required, struct, text } from "../schema.ts";

export const ipamConfigSpec = struct({
  strictAffinity: required(kept(flag())),
  autoAllocateBlocks: required(kept(flag())),
  maxBlocksPerHost: integer(int64, { minimum: 0, maximum: 2147483647 }),
  kubeVirtVMAddressPersistence: text({ enum: ["Enabled", "Disabled"] }),
  ipCooldownSeconds: integer(int64, { minimum: 0, maximum: 1200 }),
});

export const ipamHandleSpec = struct({
  handleID: required(kept(text())),
  block: required(kept(map(integer(int64)))),
  deleted: kept(flag()),
});

export const ipReservationSpec = struct({
  reservedCIDRs: list(text({ format: "cidr" }), { "x-kubernetes-list-type": "set" }),
});

/** The configuration as IPAM itself keeps it in etcd. */
export const v1IpamConfig = struct({
  strict_affinity: flag(),
  auto_allocate_blocks: flag(),
  maxBlocksPerHost: integer(int64),
  kubeVirtVMAddressPersistence: optional(text()),
  ipCooldownSeconds: integer(int64),
});

/** A handle as etcd keeps it: its key says whose it is. */
export const v1IpamHandle = struct({ block: kept(map(integer(int64))), deleted: kept(flag()) });

// Kinds of IPAM that no client is told of: how addresses are handed out, to whom, and which are kept back.
import { int64 } from "../read-json.ts";
import { flag, integer, kept, list, map, required, struct, text } from "../schema.ts";

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
  deleted: flag(),
});

export const ipReservationSpec = struct({
  reservedCIDRs: list(text({ format: "cidr" }), { "x-kubernetes-list-type": "set" }),
});

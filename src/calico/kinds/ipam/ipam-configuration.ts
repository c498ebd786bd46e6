// IPAMConfiguration: IPAMConfig as users write it. A stored object of its own in etcd alone.
import { cell, nameCell } from "../columns.ts";
import { etcdKind } from "../kind.ts";
import { ipamConfigSpec } from "./ipam-config.ts";

const columns = [
  nameCell,
  cell("STRICTAFFINITY", "spec.strictAffinity", "false"),
  cell("AUTOALLOCATEBLOCKS", "spec.autoAllocateBlocks", "false"),
];

export const ipamConfiguration = etcdKind("IPAMConfiguration", {
  carries: "optional",
  followed: false,
  names: ["ipamconfiguration", "ipamconfigurations", "ipamconfig", "ipamconfigs"],
  columns: { ps: columns, wide: [...columns, cell("MAXBLOCKSPERHOST", "spec.maxBlocksPerHost", "0")] },
  schema: { spec: ipamConfigSpec },
});

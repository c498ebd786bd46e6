// IPAMConfiguration: IPAMConfig as users write it. A stored object of its own in etcd alone (storedKind).

import type { SchemaType } from "../../model/index.ts";
import type { Problem } from "../checks/check.ts";
import { cell, nameCell } from "../columns.ts";
import { etcdKind, forSpec, onlyDefault, type SpecObject } from "../kind.ts";
import { ipamConfigSpec } from "./ipam-config.ts";

const columns = [
  nameCell,
  cell("STRICTAFFINITY", "spec.strictAffinity", "false"),
  cell("AUTOALLOCATEBLOCKS", "spec.autoAllocateBlocks", "false"),
];

type Spec = SchemaType<typeof ipamConfigSpec>;

function* beforeWrite({ metadata }: SpecObject<Spec>): Generator<Problem> {
  yield* onlyDefault(metadata, 'Cannot create an IPAMConfiguration resource with a name other than "default"');
}

function* wholeChecks({ spec: { maxBlocksPerHost = 0 } }: SpecObject<Spec>): Generator<Problem> {
  if (maxBlocksPerHost >= 0) return;
  yield {
    field: "spec.maxBlocksPerHost",
    rule: "must be 0 or more",
    name: "MaxBlocksPerHost",
    value: String(maxBlocksPerHost),
    reason: "must be greater than or equal to 0",
  };
}

export const ipamConfiguration = etcdKind("IPAMConfiguration", {
  carries: "optional",
  followed: false,
  names: ["ipamconfiguration", "ipamconfigurations", "ipamconfig", "ipamconfigs"],
  columns: { ps: columns, wide: [...columns, cell("MAXBLOCKSPERHOST", "spec.maxBlocksPerHost", "0")] },
  schema: { spec: ipamConfigSpec },
  beforeWrite: forSpec(beforeWrite),
  wholeChecks: forSpec(wholeChecks),
});

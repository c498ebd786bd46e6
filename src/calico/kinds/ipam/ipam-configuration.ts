// IPAMConfiguration: IPAMConfig as users write it. A stored object of its own in etcd alone (storedKind).

import {
  flag,
  int32,
  integer,
  kept,
  lazy,
  optional,
  required,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import type { Problem } from "../checks/check.ts";
import { cell, nameCell } from "../columns.ts";
import { etcdKind, forSpec, onlyDefault, type SpecObject } from "../kind.ts";

/** As IPAMConfig's, in another order. */
const ipamConfigurationSpec = lazy(() =>
  struct({
    strictAffinity: required(kept(flag())),
    maxBlocksPerHost: integer(int32, { minimum: 0, maximum: 2147483647 }),
    autoAllocateBlocks: required(kept(flag())),
    kubeVirtVMAddressPersistence: optional(text({ enum: ["Enabled", "Disabled"] })),
    ipCooldownSeconds: integer(int32, { minimum: 0, maximum: 1200 }),
  }),
);

const columns = [
  nameCell,
  cell("STRICTAFFINITY", "spec.strictAffinity", "false"),
  cell("AUTOALLOCATEBLOCKS", "spec.autoAllocateBlocks", "false"),
];

type Spec = SchemaType<typeof ipamConfigurationSpec>;

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
  schema: { spec: ipamConfigurationSpec },
  beforeWrite: forSpec(beforeWrite),
  wholeChecks: forSpec(wholeChecks),
});

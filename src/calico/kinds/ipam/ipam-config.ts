// IPAMConfig: how addresses are handed out, as address management reads it. calicoctl calls it IPAMConfiguration: in
// Kubernetes the two are one object, in etcd they do not know of each other.
import { flag, int64, integer, kept, lazy, optional, required, struct, text } from "../../model/index.ts";
import { customResource } from "../kind.ts";

const ipamConfigSpec = lazy(() =>
  struct({
    strictAffinity: required(kept(flag())),
    autoAllocateBlocks: required(kept(flag())),
    maxBlocksPerHost: integer(int64, { minimum: 0, maximum: 2147483647 }),
    kubeVirtVMAddressPersistence: text({ enum: ["Enabled", "Disabled"] }),
    ipCooldownSeconds: integer(int64, { minimum: 0, maximum: 1200 }),
  }),
);

/** The configuration as IPAM itself keeps it in etcd. */
export const v1IpamConfig = lazy(() =>
  struct({
    strict_affinity: flag(),
    auto_allocate_blocks: flag(),
    maxBlocksPerHost: integer(int64),
    kubeVirtVMAddressPersistence: optional(text()),
    ipCooldownSeconds: integer(int64),
  }),
);

export const ipamConfig = customResource("IPAMConfig", {
  etcdKey: "/calico/ipam/v2/config",
  inNewGroup: { kind: "IPAMConfiguration", plural: "ipamconfigurations" },
  rights: {
    node: ["get", "list", "watch", "create"],
    cni: ["get"],
    ctl: ["get", "list", "create", "update", "delete"],
  },
  schema: { spec: ipamConfigSpec },
  newGroup: {
    shortNames: ["ipamconfig", "ipamconfigs"],
    columns: [
      ["StrictAffinity", ".spec.strictAffinity", "boolean"],
      ["MaxBlocksPerHost", ".spec.maxBlocksPerHost", "integer"],
      ["AutoAllocateBlocks", ".spec.autoAllocateBlocks", "boolean"],
    ],
    spec: {
      strictAffinity: { default: false },
      autoAllocateBlocks: { default: true },
      maxBlocksPerHost: { format: "int32", maximum: 1_000_000, default: 0 },
      ipCooldownSeconds: { format: "int32" },
    },
  },
});

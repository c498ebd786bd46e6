// VirtualMachineInstanceMigration: KubeVirt's word that a machine is on its way; clients are told of it as LiveMigration.
import { servedKind } from "../kind.ts";

export const virtualMachineInstanceMigration = servedKind(
  "kubevirt.io/v1/virtualmachineinstancemigrations",
  "namespaced",
  {
    carries: "optional",
  },
);

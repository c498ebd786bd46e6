// LiveMigrations, so that Felix lets both ends of a machine in motion speak: made from KubeVirt's migrations, of which only
// those under way (and failed ones) are told of; in etcd stored as they are.
import type { JsonRecord } from "../../../base/lib/index.ts";
import { type LiveMigrationSpec, liveMigrationSpec } from "../../kinds/index.ts";
import { recordAt, stringAt } from "../../model/index.ts";
import { readMetadata } from "../object/kubernetes-metadata.ts";
import { readResource, writeResource } from "../object/resource.ts";
import type { Processor, ProcessorId } from "../processor/processor.ts";
import { createWholeObjectProcessor, type WholeObject } from "../processor/whole-object.ts";

const phasesUnderWay = new Set(["Scheduling", "Scheduled", "PreparingTarget", "TargetReady", "Running", "Failed"]);

export function createVirtualMachineMigrationProcessor(): Processor {
  const kinds = { kind: "VirtualMachineInstanceMigration", resourceKind: "LiveMigration" } as const;
  return createWholeObjectProcessor({ ...kinds, read: readMigration });
}

function readMigration(object: JsonRecord, id: ProcessorId): WholeObject | undefined {
  const all = readMetadata(object);
  const status = recordAt(object, "status", "");
  const machine = stringAt(recordAt(object, "spec", ""), "vmiName", "spec") ?? "";
  const phase = stringAt(status, "phase", "status") ?? "";
  const sourcePod = stringAt(recordAt(status, "migrationState", "status"), "sourcePod", "status.migrationState") ?? "";
  const { name, namespace, uid = "", resourceVersion, creationTimestamp, labels, annotations } = all;
  if (!phasesUnderWay.has(phase) || machine === "" || uid === "") return undefined;
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations };
  const isMachine = `vmi.kubevirt.io/id == '${machine}' || vm.kubevirt.io/name == '${machine}'`;
  const spec: LiveMigrationSpec = {
    source:
      sourcePod === ""
        ? undefined
        : { workload: { orchestratorID: "k8s", workloadID: `${id.namespace}/${sourcePod}` } },
    target: { selector: `(${isMachine}) && kubevirt.io/migrationJobUID == '${uid}'` },
  };
  const written = liveMigrationSpec.go.write(spec);
  return { metadata, value: writeResource("LiveMigration", metadata, { spec: written }) };
}

/** Live migrations as etcd stores them: passed on. */
export function createLiveMigrationProcessor(): Processor {
  return createWholeObjectProcessor({
    kind: "LiveMigration",
    resourceKind: "LiveMigration",
    read: (object) => {
      const { metadata, spec } = readResource("LiveMigration", liveMigrationSpec, object);
      return { metadata, value: writeResource("LiveMigration", metadata, { spec: liveMigrationSpec.go.write(spec) }) };
    },
  });
}

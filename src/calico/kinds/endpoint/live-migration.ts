// LiveMigration: a virtual machine on its way from one node to another. Never a custom resource: KubeVirt's migrations
// are turned into it, etcd and folders store it.
import { lazy, optional, type SchemaType, struct, text } from "../../model/index.ts";
import { etcdKind } from "../kind.ts";

const workload = () => ({ hostname: text(), orchestratorID: text(), workloadID: text() });
const workloadEndpoint = lazy(() => optional(struct({ ...workload(), endpointID: text() })));

export const liveMigrationSpec = lazy(() =>
  struct({
    source: optional(struct({ workload: optional(struct(workload())), workloadEndpoint })),
    target: optional(struct({ selector: optional(text()), workloadEndpoint })),
  }),
);
export type LiveMigrationSpec = SchemaType<typeof liveMigrationSpec>;

export const liveMigration = etcdKind("LiveMigration", { carries: "optional", schema: { spec: liveMigrationSpec } });

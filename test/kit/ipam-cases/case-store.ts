// A datastore as the cases see it: cleared before each, filled, changed as an operator would, and dumped in the end.
import { isRecord, type JsonRecord } from "../../../src/base/lib/index.ts";
import type { CaseObject, Edit, StoreKind } from "./case.ts";

export type CaseStore = {
  readonly kind: StoreKind;
  clear(): Promise<void>;
  apply(object: CaseObject): Promise<void>;
  edit(edit: Edit): Promise<void>;
  /** What is not there is no error. */
  delete(object: CaseObject): Promise<void>;
  dump(startedMs: number): Promise<JsonRecord>;
  /** With what an endpoint leaves: annotations of pods, and in etcd endpoints and profiles. */
  dumpWithEndpoints(startedMs: number): Promise<JsonRecord>;
};

/** What makes a cluster ready; the plugin does not look at it. */
export const ready: CaseObject = {
  kind: "ClusterInformation",
  metadata: { name: "default" },
  spec: { datastoreReady: true, clusterGUID: "0".repeat(32), clusterType: "k8s" },
};

/** What calicoctl fills in before it stores a pool. */
export function withPoolDefaults(object: CaseObject): CaseObject {
  if (object.kind !== "IPPool") return object;
  const spec = {
    blockSize: String(object.spec?.cidr).includes(":") ? 122 : 26,
    allowedUses: ["Workload", "Tunnel"],
    assignmentMode: "Automatic",
    nodeSelector: "all()",
    ipipMode: "Never",
    vxlanMode: "Never",
    natOutgoing: true,
    ...object.spec,
  };
  return { ...object, spec };
}

/** null removes. */
export function merged(base: JsonRecord, over: JsonRecord): JsonRecord {
  const result: { [name: string]: unknown } = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = result[name];
    if (value === null) delete result[name];
    else result[name] = isRecord(value) && isRecord(before) ? merged(before, value) : value;
  }
  return result;
}

/** The order of the changes counts. */
export async function applyAll(store: CaseStore, objects: readonly CaseObject[]): Promise<void> {
  for (const { only = store.kind, ...object } of objects) if (only === store.kind) await store.apply(object);
}

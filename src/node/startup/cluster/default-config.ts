// The configuration that every cluster has: made where it is missing, completed where it is there in part, and otherwise left alone.
import type { Clock, JsonRecord, Log } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import {
  initialiseDatastore,
  isResourceError,
  type Resources,
  type V3Object,
} from "../../../calico/resources/index.ts";
import type { ClusterFacts } from "./facts.ts";
import { isForbidden, type Patience, patiently } from "./patience.ts";
import type { Need } from "./rights.ts";

export type ConfigWorld = {
  readonly datastore: Datastore;
  readonly resources: Resources;
  readonly facts: ClusterFacts;
  readonly clusterType: string;
  readonly node: string;
  readonly patience: Patience;
  readonly clock: Clock;
  readonly log: Log;
};

/** In the order of the original, whose later steps are missing where an earlier one fails. */
export async function ensureDefaultConfig(world: ConfigWorld): Promise<void> {
  await ensureInitialised(world);
  await ensureFelix(world);
  if (world.datastore.flavour === "etcdv3") await ensureFelixOfNode(world);
  const { facts } = world;
  if (facts.bgp.is === "missing") await create("BGPConfiguration", {}, world);
  if (facts.ipam.is === "missing") {
    const spec = { autoAllocateBlocks: true, strictAffinity: false, kubeVirtVMAddressPersistence: "Enabled" };
    await create("IPAMConfiguration", spec, world);
  }
}

/** What these steps have to write, for whoever asks for the rights. */
export function configNeeds(facts: ClusterFacts, clusterType: string): readonly Need[] {
  const { clusterInformation, felix, bgp, ipam, tiers } = facts;
  const needs: Need[] = [];
  if (clusterInformation.is === "missing") needs.push({ kind: "ClusterInformation", verb: "create" });
  if (clusterInformation.is === "found" && !isComplete(clusterInformation.value, typesOf(facts, clusterType)))
    needs.push({ kind: "ClusterInformation", verb: "update" });
  if (tiers.is !== "missing" && !hasTiers(facts)) needs.push({ kind: "Tier", verb: "create", isDispensable: true });
  if (felix.is === "missing") needs.push({ kind: "FelixConfiguration", verb: "create" });
  if (felix.is === "found" && missingFelix(felix.value) !== undefined)
    needs.push({ kind: "FelixConfiguration", verb: "update" });
  if (bgp.is === "missing") needs.push({ kind: "BGPConfiguration", verb: "create", isDispensable: true });
  if (ipam.is === "missing") needs.push({ kind: "IPAMConfig", verb: "create", isDispensable: true });
  return needs;
}

const builtIn = ["default", "kube-admin", "kube-baseline"];

function hasTiers({ tiers }: ClusterFacts): boolean {
  const names = tiers.is === "found" ? tiers.value.map(({ metadata }) => metadata.name) : [];
  return builtIn.every((name) => names.includes(name));
}

function typesOf({ kubeadm, isRancher }: ClusterFacts, clusterType: string): readonly string[] {
  const types = [
    ...clusterType.split(","),
    ...(kubeadm === undefined ? [] : ["kubeadm"]),
    ...(isRancher ? ["rancher"] : []),
  ];
  return types.filter((type) => type !== "");
}

function isComplete({ spec }: V3Object, types: readonly string[]): boolean {
  const present = String(spec.clusterType ?? "").split(",");
  return (
    Boolean(spec.clusterGUID) && spec.datastoreReady !== undefined && types.every((type) => present.includes(type))
  );
}

async function ensureInitialised(world: ConfigWorld): Promise<void> {
  const { datastore, facts, patience, clock, log } = world;
  const types = typesOf(facts, world.clusterType);
  const { clusterInformation: known } = facts;
  const wanted = datastore.flavour === "kubernetes" ? [...types, "kdd"] : types;
  if (hasTiers(facts) && known.is === "found" && isComplete(known.value, wanted)) return;
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  await patiently(
    (signal) => initialiseDatastore(datastore, { clock, log, signal, newClusterGuid, clusterTypes: types }),
    patience,
  );
}

/** Undefined: it has what start-up wants it to have. */
function missingFelix({ spec }: V3Object): JsonRecord | undefined {
  const added = {
    ...(spec.reportingInterval === undefined ? { reportingInterval: "0s" } : {}),
    ...(spec.logSeverityScreen === undefined || spec.logSeverityScreen === "" ? { logSeverityScreen: "Info" } : {}),
  };
  return Object.keys(added).length === 0 ? undefined : added;
}

async function ensureFelix(world: ConfigWorld): Promise<void> {
  const { resources, facts, patience } = world;
  if (facts.felix.is === "missing") {
    await create("FelixConfiguration", { reportingInterval: "0s", logSeverityScreen: "Info" }, world);
  } else if (facts.felix.is === "found" && missingFelix(facts.felix.value) !== undefined) {
    const complete = (current: V3Object | undefined) => {
      const added = current === undefined ? undefined : missingFelix(current);
      if (current === undefined || added === undefined) return "nothing" as const;
      return { ...current, spec: { ...current.spec, ...added } };
    };
    await patiently((signal) => resources.edit("FelixConfiguration", theDefault, complete, { signal }), patience);
  }
}

async function ensureFelixOfNode({ resources, node, patience }: ConfigWorld): Promise<void> {
  const kind = "FelixConfiguration";
  const name = `node.${node}`;
  const complete = (current: V3Object | undefined): V3Object | "nothing" => {
    if (current?.spec.defaultEndpointToHostAction) return "nothing";
    const spec = { ...current?.spec, defaultEndpointToHostAction: "Return" };
    return { kind, apiVersion: "projectcalico.org/v3", metadata: { name }, ...current, spec };
  };
  await patiently((signal) => resources.edit(kind, { namespace: "", name }, complete, { signal }), patience);
}

const theDefault = { namespace: "", name: "default" };

async function create(
  kind: "FelixConfiguration" | "BGPConfiguration" | "IPAMConfiguration",
  spec: JsonRecord,
  { resources, patience, log }: ConfigWorld,
): Promise<void> {
  try {
    await patiently((signal) => resources.create(kind, { metadata: { name: "default" }, spec }, { signal }), patience);
  } catch (error) {
    if (isResourceError(error, "exists")) log.info(`Ignoring conflict when setting value ${kind}(default)`);
    else if (isResourceError(error, "no-such-kind"))
      log.warn(`${kind} is not installed: its CRD is missing`, { error });
    else if (kind !== "FelixConfiguration" && isForbidden(error)) {
      // What would be written is what holds where nothing is.
      log.warn("Unable to set global default configuration; going on without it", { error });
    } else throw error;
  }
}

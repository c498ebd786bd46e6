// What a Typha writes before it serves: the ClusterInformation that tells clients the datastore may be used, and the tiers
// that every policy needs. All of it is tried; rights that are missing are named in the log and do not stop the server,
// because somebody else (calicoctl, the operator, an older Typha) may have written the same.

import { type Clock, isRecord, type JsonRecord, type Log } from "../../base/lib/index.ts";
import {
  type Datastore,
  DatastoreError,
  type Decision,
  edit,
  isDatastoreError,
  type StoredObject,
  writeJson,
} from "../datastore/index.ts";
import { builtInTiers, type ClusterInformationSpec, type Flavour, type Kind } from "../kinds/index.ts";

type InitialiseOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** 32 hex digits. */
  readonly newClusterGuid: () => string;
};

/** Throws the first DatastoreError that is about more than rights, after everything has been tried. */
export async function initialiseDatastore(datastore: Datastore, options: InitialiseOptions): Promise<void> {
  const steps = [
    () => ensureClusterInformation(datastore, options),
    ...builtInTiers.map((tier) => () => ensureTier(datastore, tier, options)),
  ];
  let failure: unknown;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      options.signal.throwIfAborted();
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

async function ensureTier(
  datastore: Datastore,
  { name, ...spec }: (typeof builtInTiers)[number],
  { log, signal }: InitialiseOptions,
): Promise<void> {
  try {
    await datastore.create("Tier", calicoObject("Tier", name, spec), { signal });
    log.info("created tier", { tier: name });
  } catch (error) {
    if (isDatastoreError(error, "exists")) return;
    // Clusters of the hard-way guides' time have no tiers at all; clients then know the default one by themselves.
    if (isDatastoreError(error, "no-such-kind")) return;
    if (!isAboutRights(error)) throw error;
    log.warn("may not create a tier; it must exist already", { tier: name, missingRule: missingRuleOf(error) });
  }
}

async function ensureClusterInformation(datastore: Datastore, options: InitialiseOptions): Promise<void> {
  const { clock, log, signal } = options;
  const kind = "ClusterInformation";
  let clusterType: string | undefined;
  const complete = (stored: StoredObject | undefined): Decision => {
    const { object, spec } =
      stored === undefined ? { object: calicoObject(kind, "default", {}), spec: {} } : readStored(stored);
    const whole = completeSpec(spec, datastore.flavour, options);
    clusterType = whole.clusterType;
    const isWhole = stored !== undefined && writeJson(whole) === writeJson(spec);
    return isWhole ? "nothing" : { value: { ...object, spec: whole } };
  };
  try {
    const { did } = await edit(datastore, kind, { namespace: "", name: "default" }, complete, { clock, signal });
    if (did === "create") log.info("created ClusterInformation", { clusterType });
    if (did === "update") log.info("completed ClusterInformation", { clusterType });
  } catch (error) {
    if (!isAboutRights(error)) throw error;
    log.warn("may not write ClusterInformation; it must be right already", { missingRule: missingRuleOf(error) });
  }
}

/** What cannot be read is not completed: the cluster's GUID may be in it, and a new one would replace it. */
function readStored({ value, problem }: StoredObject): { object: JsonRecord; spec: JsonRecord } {
  if (problem !== undefined) throw unreadable(problem);
  if (!isRecord(value)) throw unreadable("is not an object");
  const spec = value.spec ?? {};
  if (!isRecord(spec)) throw unreadable("spec is not an object");
  for (const [field, type] of Object.entries(fieldTypes)) {
    const found = spec[field] ?? undefined;
    if (found !== undefined && typeof found !== type) throw unreadable(`spec.${field} is not a ${type}`);
  }
  return { object: value, spec };
}

const fieldTypes = {
  clusterGUID: "string",
  clusterType: "string",
  datastoreReady: "boolean",
} as const satisfies { [Field in keyof ClusterInformationSpec]?: string };

function unreadable(problem: string): DatastoreError {
  return new DatastoreError("invalid", `the ClusterInformation "default" cannot be read: ${problem}`);
}

/** Only what is missing is added: a datastore that was marked as not ready stays so. */
function completeSpec(
  spec: JsonRecord,
  flavour: Flavour,
  { newClusterGuid }: InitialiseOptions,
): JsonRecord & ClusterInformationSpec {
  const { clusterGUID, clusterType, datastoreReady } = spec;
  const wanted = flavour === "kubernetes" ? ["typha", "kdd"] : ["typha"];
  const present = typeof clusterType === "string" && clusterType !== "" ? clusterType.split(",") : [];
  return {
    ...spec,
    clusterGUID: typeof clusterGUID === "string" && clusterGUID !== "" ? clusterGUID : newClusterGuid(),
    clusterType: [...present, ...wanted.filter((type) => !present.includes(type))].join(","),
    datastoreReady: typeof datastoreReady === "boolean" ? datastoreReady : true,
  };
}

function calicoObject(kind: Kind, name: string, spec: object): object {
  return { kind, apiVersion: "projectcalico.org/v3", metadata: { name }, spec };
}

function isAboutRights(error: unknown): boolean {
  return isDatastoreError(error, "forbidden", "unauthorized");
}

function missingRuleOf(error: unknown): string | undefined {
  return isDatastoreError(error) ? error.missingRule : undefined;
}

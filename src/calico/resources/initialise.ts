// What every program writes before it uses a datastore: the ClusterInformation that tells clients the datastore may be
// used, and the tiers that every policy needs. All of it is tried; rights that are missing are named in the log and do not
// stop the program, because somebody else (calicoctl, the operator, an older Typha) may have written the same.

import { randomUUID } from "node:crypto";
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
import { builtInTiers, type ClusterInformationSpec, type Flavour } from "../kinds/index.ts";
import { FieldError } from "../model/index.ts";
import { fromCustomResource, toCustomResource } from "./forms/custom-resource.ts";
import { toEtcdResource } from "./forms/etcd.ts";
import { type StoredForm, storedFormOf } from "./homes/object-home.ts";
import { readV3 } from "./v3-object.ts";
import { isoSeconds } from "./written-metadata.ts";

type InitialiseOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** 32 hex digits. */
  readonly newClusterGuid: () => string;
  /** What the program adds to the cluster's type; "kdd" comes last where Kubernetes keeps the data. */
  readonly clusterTypes?: readonly string[];
  /** Of Calico. Not given: what is stored stays. */
  readonly calicoVersion?: string;
  readonly makeUid?: () => string;
};

/** Throws the first DatastoreError that is about more than rights, after everything has been tried. */
export async function initialiseDatastore(datastore: Datastore, options: InitialiseOptions): Promise<void> {
  const form = await storedFormOf(datastore, options);
  const steps = [
    () => ensureClusterInformation(datastore, form, options),
    ...builtInTiers.map((tier) => () => ensureTier(datastore, calicoObject("Tier", tier, form, options), options)),
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
  { name, value }: { name: string; value: JsonRecord },
  { log, signal }: InitialiseOptions,
): Promise<void> {
  try {
    await datastore.create("Tier", value, { signal });
    log.info("created tier", { tier: name });
  } catch (error) {
    if (isDatastoreError(error, "exists")) return;
    // Clusters of the hard-way guides' time have no tiers at all; clients then know the default one by themselves.
    if (isDatastoreError(error, "no-such-kind")) return;
    if (!isAboutRights(error)) throw error;
    log.warn("may not create a tier; it must exist already", { tier: name, missingRule: missingRuleOf(error) });
  }
}

async function ensureClusterInformation(
  datastore: Datastore,
  form: StoredForm,
  options: InitialiseOptions,
): Promise<void> {
  const { clock, log, signal } = options;
  const kind = "ClusterInformation";
  let clusterType: string | undefined;
  const complete = (stored: StoredObject | undefined): Decision => {
    const { object, spec } = stored === undefined ? { object: {}, spec: {} } : readStored(stored);
    const whole = completeSpec(spec, datastore.flavour, options);
    clusterType = whole.clusterType;
    if (stored === undefined) return calicoObject(kind, { name: "default", ...whole }, form, options);
    if (writeJson(whole) === writeJson(spec)) return "nothing";
    return { value: { ...object, metadata: markedMetadata(object, form), spec: whole } };
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
  { newClusterGuid, clusterTypes = [], calicoVersion }: InitialiseOptions,
): JsonRecord & ClusterInformationSpec {
  const { clusterGUID, clusterType, datastoreReady } = spec;
  const wanted = flavour === "kubernetes" ? [...clusterTypes, "kdd"] : clusterTypes;
  const present = typeof clusterType === "string" && clusterType !== "" ? clusterType.split(",") : [];
  const types = [...present, ...wanted.filter((type) => !present.includes(type))].join(",");
  return {
    ...spec,
    clusterGUID: typeof clusterGUID === "string" && clusterGUID !== "" ? clusterGUID : newClusterGuid(),
    ...(types === "" ? {} : { clusterType: types }),
    datastoreReady: typeof datastoreReady === "boolean" ? datastoreReady : true,
    ...(calicoVersion === undefined ? {} : { calicoVersion }),
    // As the original stores it: "" is not there.
    ...(calicoVersion === undefined && spec.calicoVersion === "" ? { calicoVersion: undefined } : {}),
  };
}

/** A new object in the form of the datastore. */
function calicoObject(
  kind: "ClusterInformation" | "Tier",
  { name, ...spec }: { readonly name: string; readonly [field: string]: unknown },
  form: StoredForm,
  { clock, makeUid = randomUUID }: InitialiseOptions,
): { name: string; value: JsonRecord } {
  const creationTimestamp = isoSeconds(clock.wallMs());
  const object = readV3(kind, { metadata: { name, uid: makeUid(), creationTimestamp }, spec });
  return { name, value: form === "etcdv3" ? toEtcdResource(object) : toCustomResource(object, { form }) };
}

/** The metadata of a CR that other hands made gains what ours would have; fields we do not know stay. */
function markedMetadata(object: JsonRecord, form: StoredForm): unknown {
  if (form !== "crd.projectcalico.org") return object.metadata;
  try {
    const { metadata } = toCustomResource(fromCustomResource("ClusterInformation", object, ""), { form });
    return { ...(isRecord(object.metadata) ? object.metadata : {}), ...(isRecord(metadata) ? metadata : {}) };
  } catch (error) {
    if (error instanceof FieldError) return object.metadata; // an annotation that is none of ours to mend
    throw error;
  }
}

function isAboutRights(error: unknown): boolean {
  return isDatastoreError(error, "forbidden", "unauthorized");
}

function missingRuleOf(error: unknown): string | undefined {
  return isDatastoreError(error) ? error.missingRule : undefined;
}

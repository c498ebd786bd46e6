// ctl datastore migrate import: stores in Kubernetes what export printed of an etcd. The file is read as a whole first; then the
// resource definitions are installed, the datastore must be empty, is locked, and gets the three parts.
import { isRecord, messageOf } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { builtInTiers } from "../../../calico/kinds/index.ts";
import {
  type ApiKind,
  type IpamRef,
  isResourceError,
  openIpamObjects,
  type Resources,
  type V3Object,
} from "../../../calico/resources/index.ts";
import type { Invocation, Run } from "../command.ts";
import type { Connection } from "../connection.ts";
import { type Console, CtlError } from "../console.ts";
import { perform } from "../resources/running/perform.ts";
import { forEachTarget } from "../resources/running/run-verb.ts";
import { nameOf, targetsOfInput } from "../resources/targets/targets.ts";
import { exportedKinds, kubernetesPolicyPrefix } from "./exported-kinds.ts";
import { installCrds } from "./install-crds.ts";
import { initialise } from "./lock.ts";
import { type MigrationFile, readMigrationFile } from "./migration-file.ts";
import { failed, isLocked, setReady } from "./readiness.ts";

export const run: Run = async (invocation, console) => {
  const connection = await invocation.connect();
  const { datastore, resources, type } = connection;
  const { signal } = console;
  if (type !== "kubernetes" || !("api" in datastore)) {
    const rule = "to import to for datastore migration. Datastore type must be kubernetes";
    throw new CtlError(`invalid datastore type: ${type} ${rule}`);
  }
  const file = await readMigrationFile(invocation.value("filename") ?? "", console);
  await installCrds(datastore as KubernetesDatastore, signal); // only an API server has an api
  await mustBeEmpty(connection, signal);
  await initialise(datastore, signal);
  if (!(await isLocked(resources, signal))) {
    await setReady(resources, false, { signal, purpose: "locking" });
    console.out("Datastore locked.\n");
  }
  await importResources(invocation, file, console);
  await importInformation(resources, file, signal);
  await importIpam(connection, file, console);
  const next = "Please refer to the datastore migration documentation for next steps.";
  console.out(`Datastore information successfully imported. ${next}\n`);
  return 0;
};

async function mustBeEmpty({ resources, datastore }: Connection, signal: AbortSignal): Promise<void> {
  const found = async (): Promise<string | undefined> => {
    for (const kind of [...exportedKinds, "ClusterInformation"] as const) {
      if (kind === "Node") continue; // Kubernetes' own
      const { items, unreadable } = await resources.list(kind, { signal });
      if (unreadable.length > 0 || items.some((object) => !isThereAnyway(object))) return `Calico ${kind} resource`;
    }
    for (const kind of ["IPAMBlock", "BlockAffinity", "IPAMHandle", "IPAMConfig"] as const) {
      for await (const { items } of datastore.list(kind, { signal })) if (items.length > 0) return "IPAM resources";
    }
    return undefined;
  };
  const existing = await found();
  if (existing === undefined) return;
  const rest = "Clear out all Calico resources by deleting all Calico CRDs";
  throw new CtlError(`datastore already has Calico resources: found existing ${existing}. ${rest}`);
}

function isThereAnyway({ kind, metadata: { name = "" } }: V3Object): boolean {
  if (kind === "NetworkPolicy") return name.startsWith(kubernetesPolicyPrefix);
  return kind === "Tier" && builtInTiers.some((tier) => tier.name === name);
}

/** They must be there before those that name them. */
const namedByOthers: readonly ApiKind[] = ["Tier", "BGPFilter"];

async function importResources(invocation: Invocation, file: MigrationFile, console: Console): Promise<void> {
  const { resources } = await invocation.connect();
  const { signal } = console;
  const fromFile: Invocation = {
    ...invocation,
    isSet: () => false,
    value: (flag) => (flag === "filename" ? "-" : undefined),
  };
  const given = await targetsOfInput(fromFile, { ...console, readStdin: async () => file.resources });
  // In an export filters come after the peers that name them, so that the original cannot import such peers.
  const targets = [
    ...given.filter(({ kind }) => namedByOthers.includes(kind)),
    ...given.filter(({ kind }) => !namedByOthers.includes(kind)),
  ];
  const options = { skipsExisting: false, skipsMissing: false };
  const outcomes = await forEachTarget("apply", targets, {
    signal,
    doing: (target, late) => perform("apply", target, { resources, call: { signal: late }, options }),
  });
  const errors: string[] = [];
  let applied = 0;
  for (const [at, outcome] of outcomes.entries()) {
    const target = targets[at];
    if (outcome.is === "done") applied += 1;
    else if (outcome.is === "not tried") errors.push(`${target === undefined ? "" : nameOf(target)}: ${outcome.why}`);
    else if (target?.kind === "Node" && isResourceError(outcome.error, "not-found")) {
      const rule = "Non-Kubernetes nodes are not supported in the Kubernetes datastore and will be skipped.";
      const what = `Attempted to import node ${target.id.name} from etcd that references a nonexistent Kubernetes node`;
      console.out(`[WARNING] ${what}. Skipping that node. ${rule}\n`);
    } else errors.push(messageOf(outcome.error));
  }
  if (errors.length > 0) throw new CtlError(`failed to import v3 resources: hit error(s): [${errors.join(" ")}]`);
  console.out(`Successfully applied ${applied} resource(s)\n`);
}

async function importInformation(resources: Resources, file: MigrationFile, signal: AbortSignal): Promise<void> {
  try {
    await resources.edit(
      "ClusterInformation",
      { namespace: "", name: "default" },
      (current) => (current === undefined ? "nothing" : { ...current, spec: { ...current.spec, ...file.information } }),
      { signal },
    );
  } catch (error) {
    throw failed("failed to update cluster information: error updating current cluster info for migration", error);
  }
}

/** An API server on two cores is busy with so many. */
const atOnce = 8;

async function importIpam(
  { datastore, resources }: Connection,
  { ipam }: MigrationFile,
  console: Console,
): Promise<void> {
  const { signal } = console;
  console.out("Importing IPAM resources\n");
  const objects = openIpamObjects(datastore);
  const errors: string[] = [];
  const waiting = [...ipam];
  const work = async () => {
    for (let object = waiting.shift(); object !== undefined; object = waiting.shift()) {
      try {
        const ref = refOf(object);
        if (ref === undefined) await resources.create("IPAMConfig", configuration(object), { signal });
        else await objects.create(ref, object.spec, { signal });
      } catch (error) {
        signal.throwIfAborted();
        errors.push(`error trying to create ${object.kind} ${object.metadata.name}: ${messageOf(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (errors.length > 0) throw new CtlError(`failed to import IPAM resources: hit error(s): [${errors.join(" ")}]`);
  console.out(`Successfully applied ${ipam.length} IPAM resource(s)\n`);
}

/** Undefined: the configuration. */
function refOf({ kind, spec }: V3Object): IpamRef | undefined {
  const text = (field: string) => (typeof spec[field] === "string" ? spec[field] : "");
  switch (kind) {
    case "IPAMBlock":
      return { kind, cidr: text("cidr") };
    case "BlockAffinity":
      return { kind, type: text("type"), node: text("node"), cidr: text("cidr") };
    case "IPAMHandle":
      return { kind, handle: text("handleID") };
    default:
      return undefined;
  }
}

function configuration({ spec }: V3Object): object {
  return { metadata: { name: "default" }, spec: isRecord(spec) ? spec : {} };
}

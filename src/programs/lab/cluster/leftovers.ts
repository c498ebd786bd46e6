// What a lab has written into a datastore that it was given: found by its mark, and removed when the lab goes, or when another begins after a crash.
// Objects of others are never touched: where one has a name that the lab needs, the lab does not start.
import { CattailError, isRecord, type JsonRecord, systemClock } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";
import { openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import { isResourceError, openIpamObjects, openResources, type Resources } from "../../../calico/resources/index.ts";
import { labMark, pools, pools6 } from "./objects.ts";

function isMarked(object: unknown): boolean {
  const metadata = isRecord(object) ? object.metadata : undefined;
  const labels = isRecord(metadata) ? metadata.labels : undefined;
  return isRecord(labels) && Object.entries(labMark).every(([name, value]) => labels[name] === value);
}

/** `nodes` are the names of the lab's nodes. */
export async function removeLeftovers(datastore: Datastore, nodes: readonly string[]): Promise<void> {
  const resources = openResources(datastore);
  await removePods(datastore, resources, nodes);
  for (const node of nodes) await removeAddresses(datastore, node);
  await removeNodes(datastore, resources, nodes);
  for (const { name } of [...pools, ...pools6]) {
    const pool = await found(() => resources.get("IPPool", { namespace: "", name }));
    if (isMarked(pool)) await found(() => resources.delete("IPPool", { namespace: "", name }));
  }
  const profile = { namespace: "", name: "k8s-pod-network" };
  if (datastore.flavour !== "kubernetes" && isMarked(await found(() => resources.get("Profile", profile))))
    await found(() => resources.delete("Profile", profile));
}

/** Throws LAB_DATASTORE where somebody else's object has a name that the lab needs. */
export async function refuseOthers(datastore: Datastore, nodes: readonly string[]): Promise<void> {
  const resources = openResources(datastore);
  for (const { name } of [...pools, ...pools6]) {
    const pool = await found(() => resources.get("IPPool", { namespace: "", name }));
    if (pool !== undefined && !isMarked(pool)) throw inUse(`IPPool ${name}`);
  }
  if (datastore.flavour !== "kubernetes") return;
  for (const name of nodes) {
    const node = await datastore.get("Node", { namespace: "", name });
    if (node !== undefined && !isMarked(node.value)) throw inUse(`Node ${name}`);
  }
}

function inUse(what: string): CattailError {
  return new CattailError("LAB_DATASTORE", {
    problem: `the datastore has a ${what} that no lab has made`,
    next: "Give the lab a datastore of its own: an etcd, or an API server to try things on (npm run peers starts both)",
  });
}

async function removePods(datastore: Datastore, resources: Resources, nodes: readonly string[]): Promise<void> {
  if (datastore.flavour !== "kubernetes") {
    const { items } = await resources.list("WorkloadEndpoint");
    for (const { metadata, spec } of items)
      if (isRecord(spec) && nodes.includes(String(spec.node)))
        await found(() =>
          resources.delete("WorkloadEndpoint", { namespace: metadata.namespace ?? "", name: metadata.name ?? "" }),
        );
    return;
  }
  for await (const { items } of datastore.list("Pod", { signal: AbortSignal.timeout(30_000) }))
    for (const { id, value } of items)
      if (isMarked(value)) await found(() => datastore.delete("Pod", id, { gracePeriodSeconds: 0 }));
}

/** What the pods of a node hold, and then its blocks. */
async function removeAddresses(datastore: Datastore, node: string): Promise<void> {
  const edge = { clock: systemClock, random: Math.random };
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  const { items } = await openIpamObjects(datastore).list("IPAMBlock");
  const own = items.map(({ spec }) => spec).filter(({ affinity }) => affinity === `host:${node}`);
  for (const handle of new Set(own.flatMap(handlesOf))) await ipam.releaseByHandle(handle);
  await ipam.releaseHostAffinities(node, { mustBeEmpty: false });
}

function handlesOf({ attributes }: JsonRecord): string[] {
  return (Array.isArray(attributes) ? attributes : []).flatMap((each) =>
    isRecord(each) && typeof each.handle_id === "string" ? [each.handle_id] : [],
  );
}

async function removeNodes(datastore: Datastore, resources: Resources, nodes: readonly string[]): Promise<void> {
  for (const name of nodes) {
    const id = { namespace: "", name };
    if (datastore.flavour !== "kubernetes") await found(() => resources.delete("Node", id));
    else if (isMarked((await datastore.get("Node", id))?.value)) await found(() => datastore.delete("Node", id));
  }
}

/** Undefined: it is not there. */
async function found<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isResourceError(error, "not-found") || isDatastoreError(error, "not-found")) return undefined;
    throw error;
  }
}

// Reads what an audit looks at. Lists are read one after another while others write: addresses are listed before their users, so
// that what was taken meanwhile is missing here, and not a leak.
import { type Clock, holds, isRecord, parseRange } from "../../base/lib/index.ts";
import type { Datastore } from "../datastore/index.ts";
import {
  type AddressUse,
  type Affinity,
  type Audited,
  type Block,
  type Handle,
  readAffinity,
  readHandle,
  readLoosely,
  type ServiceObject,
  type StartingPod,
  type Unreadable,
  usesOfNode,
  usesOfService,
  usesOfWorkload,
  type Versioned,
} from "../ipam/index.ts";
import type { IpamFacts } from "../ipam-client/index.ts";
import { ipamBlockSpec } from "../kinds/index.ts";
import { FieldError, readSchema } from "../model/index.ts";
import { type Listed, type ListedIpamObjects, openIpamObjects, type Resources } from "../resources/index.ts";
import { podUse } from "./pod-use.ts";
import { assignsLoadBalancers, type LoadBalancers } from "./services.ts";

export type AuditSources = {
  readonly datastore: Datastore;
  readonly resources: Resources;
  readonly facts: Pick<IpamFacts, "pools">;
  /** Where Kubernetes' services are; undefined: nobody can ask. */
  readonly services: Datastore | undefined;
  readonly loadBalancers: LoadBalancers;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

export type ReadForAudit = {
  readonly audited: Audited;
  /** How many services have addresses from Calico; undefined: nothing says that any may. */
  readonly loadBalancers: number | undefined;
};

export async function readAudited(sources: AuditSources): Promise<ReadForAudit> {
  const { datastore, resources, facts, clock, signal } = sources;
  const objects = openIpamObjects(datastore);
  const call = { signal };
  const [handles, affinities, pools] = await Promise.all([
    objects.list("IPAMHandle", call),
    objects.list("BlockAffinity", call),
    facts.pools(call),
  ]);
  const blocks = readBlocks(await objects.list("IPAMBlock", call));
  const [{ items: nodes, unreadable: oddNodes }, services, workloads] = await Promise.all([
    resources.list("Node", call),
    readServices(sources, blocks.values),
    readWorkloads(sources),
  ]);
  return {
    audited: {
      blocks: blocks.values,
      unreadable: [
        ...blocks.unreadable,
        ...named("BlockAffinity", affinities),
        ...named("IPAMHandle", handles),
        ...named("Node", { unreadable: oddNodes }),
        ...named("WorkloadEndpoint", workloads),
      ],
      affinities: affinities.items.map(({ spec, revision }): Versioned<Affinity> => {
        return { value: readAffinity(spec), revision };
      }),
      handles: handles.items.map(({ spec, revision }): Versioned<Handle> => ({ value: readHandle(spec), revision })),
      pools,
      uses: [...nodes.flatMap(usesOfNode), ...services.uses, ...workloads.uses],
      starting: workloads.starting,
      // A node that cannot be read is there all the same.
      nodes: [...nodes.map(({ metadata }) => metadata.name ?? ""), ...oddNodes.map(({ id }) => id.name)],
      nowNs: BigInt(Math.floor(clock.wallMs())) * 1_000_000n,
    },
    loadBalancers: services.count,
  };
}

function named(kind: string, { unreadable }: Pick<Listed, "unreadable">): Unreadable[] {
  return unreadable.map(({ id, problem }) => ({ kind, name: id.name, why: problem }));
}

/** Whatever is wrong inside a block is for the audit to say. */
function readBlocks(listed: ListedIpamObjects): { values: Versioned<Block>[]; unreadable: Unreadable[] } {
  const values: Versioned<Block>[] = [];
  const unreadable = named("IPAMBlock", listed);
  for (const { spec, revision } of listed.items) {
    const name = String(spec.cidr);
    try {
      const read = readLoosely(readSchema(ipamBlockSpec, spec, "spec"));
      if (read.is === "block") values.push({ value: read.block, revision });
      else unreadable.push({ kind: "IPAMBlock", name, why: read.why });
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      unreadable.push({ kind: "IPAMBlock", name, why: error.message });
    }
  }
  return { values, unreadable };
}

/**
 * Where nothing says that Calico gives addresses to services, what a block holds for one may still be in use: those are counted, and
 * no other, since another program may have given them.
 */
async function readServices(
  { services, loadBalancers, signal }: AuditSources,
  blocks: readonly Versioned<Block>[],
): Promise<{ uses: AddressUse[]; count: number | undefined }> {
  if (services === undefined) return { uses: [], count: undefined };
  const mayBeOurs = blocks.some(({ value }) => value.attributes.some(({ secondary = {} }) => "service" in secondary));
  if (loadBalancers === undefined && !mayBeOurs) return { uses: [], count: undefined };
  const uses: AddressUse[] = [];
  let count = 0;
  for await (const { items } of services.list("Service", { signal })) {
    for (const { value } of items) {
      const isOurs = assignsLoadBalancers(value, loadBalancers);
      if (isOurs) count += 1;
      if (isRecord(value) && (isOurs || loadBalancers === undefined))
        uses.push(...usesOfService(value as ServiceObject));
    }
  }
  if (loadBalancers !== undefined) return { uses, count };
  return { uses: uses.filter(({ address }) => blocks.some(({ value }) => isHeld(value, address))), count: undefined };
}

function isHeld({ range, allocations }: Block, address: string): boolean {
  const found = parseRange(address);
  if (found === undefined || !holds(range, found)) return false;
  return (allocations[Number(found.first - range.first)] ?? null) !== null;
}

/**
 * An API server has pods, which are read page by page and let go again. Others keep workload endpoints as such, or both: then the
 * endpoints say who uses what, and pods only who has not said it yet.
 */
export async function readWorkloads({
  datastore,
  resources,
  signal,
}: Pick<AuditSources, "datastore" | "resources" | "signal">): Promise<Workloads> {
  const fromPods = datastore.flavour === "kubernetes" ? await readPods(datastore, signal) : { uses: [], starting: [] };
  if (hasPodsOnly(datastore)) return { ...fromPods, unreadable: [] };
  const { items, unreadable } = await resources.list("WorkloadEndpoint", { signal });
  const uses = items.flatMap(usesOfWorkload);
  if (datastore.flavour === "kubernetes") return { uses, starting: fromPods.starting, unreadable };
  const silent = items.filter((endpoint) => usesOfWorkload(endpoint).length === 0);
  const starting = silent.map(({ metadata, spec }) => ({
    namespace: metadata.namespace ?? "",
    pod: String(spec.pod ?? ""),
  }));
  return { uses, starting, unreadable };
}

export type Workloads = {
  readonly uses: readonly AddressUse[];
  readonly starting: readonly StartingPod[];
  /** Nobody knows which addresses these have. */
  readonly unreadable: Listed["unreadable"];
};

/** An API server: workload endpoints are nothing but its pods. */
export function hasPodsOnly({ flavour, holdsEveryKind }: Datastore): boolean {
  return flavour === "kubernetes" && holdsEveryKind !== true;
}

async function readPods(
  datastore: Datastore,
  signal: AbortSignal,
): Promise<{ uses: AddressUse[]; starting: StartingPod[] }> {
  const uses: AddressUse[] = [];
  const starting: StartingPod[] = [];
  for await (const { items } of datastore.list("Pod", { signal })) {
    for (const { id, value } of items) {
      const use = podUse(id, value);
      if (use.is === "uses") uses.push(...use.uses);
      else if (use.is === "starting") starting.push({ namespace: id.namespace, pod: id.name });
    }
  }
  return { uses, starting };
}

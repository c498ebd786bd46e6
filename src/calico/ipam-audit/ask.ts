// Answers what mending asks about the world outside, from the datastore as it is now: who uses an address, and whether a node exists.
// Only the one who is said to hold the address is looked at; where nobody is, everybody.
import { unreachable } from "../../base/lib/index.ts";
import type { Datastore } from "../datastore/index.ts";
import {
  type AddressUse,
  type HeldFor,
  type Question,
  type Reply,
  type ServiceObject,
  usesOfNode,
  usesOfService,
  usesOfWorkload,
} from "../ipam/index.ts";
import { isResourceError, type Listed, type V3Object } from "../resources/index.ts";
import { podUse } from "./pod-use.ts";
import { type AuditSources, hasPodsOnly, readWorkloads } from "./read-audited.ts";

export type AskSources = Pick<AuditSources, "datastore" | "resources" | "services">;

export function openAsker(sources: AskSources): (question: Question, call: AskCall) => Promise<Reply> {
  return async (question, { signal = new AbortController().signal }) => {
    const asking = { ...sources, signal };
    switch (question.do) {
      case "ask for node":
        return { is: "existence", exists: (await nodeNamed(asking, question.node)) !== undefined };
      case "ask who uses": {
        const { uses, isStarting } = await usesFor(asking, question.heldFor);
        return { is: "users", users: uses.filter(({ address }) => address === question.address), isStarting };
      }
      default:
        return unreachable(question);
    }
  };
}

type AskCall = { readonly signal?: AbortSignal | undefined };
type Asking = AskSources & { readonly signal: AbortSignal };
type Found = { readonly uses: readonly AddressUse[]; readonly isStarting: boolean };

async function usesFor(asking: Asking, heldFor: HeldFor): Promise<Found> {
  switch (heldFor.is) {
    case "pod":
      return await usesOfPod(asking, { namespace: heldFor.namespace, name: heldFor.pod });
    case "tunnel": {
      const node = await nodeNamed(asking, heldFor.node);
      return { uses: node === undefined ? [] : usesOfNode(node), isStarting: false };
    }
    case "service":
      return { uses: await usesOfServiceNamed(asking, heldFor), isStarting: false };
    default:
      return await everybodysUses(asking);
  }
}

async function usesOfPod(asking: Asking, pod: { namespace: string; name: string }): Promise<Found> {
  const { datastore, resources, signal } = asking;
  const fromPod = datastore.flavour === "kubernetes" ? await podNamed(datastore, pod, signal) : nobody;
  if (hasPodsOnly(datastore)) return fromPod;
  const within = { namespace: pod.namespace };
  const { items, unreadable } = await resources.list("WorkloadEndpoint", { signal, within });
  mustBeReadable("workload endpoint", unreadable);
  const endpoints = items.filter(({ spec }) => spec.pod === pod.name);
  const isSilent = endpoints.some((endpoint) => usesOfWorkload(endpoint).length === 0);
  return { uses: endpoints.flatMap(usesOfWorkload), isStarting: isSilent || fromPod.isStarting };
}

const nobody: Found = { uses: [], isStarting: false };

async function podNamed(
  datastore: Datastore,
  id: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<Found> {
  const stored = await datastore.get("Pod", id, { signal });
  const use = stored === undefined ? undefined : podUse(id, stored.value);
  if (use?.is === "uses") return { uses: use.uses, isStarting: false };
  return use?.is === "starting" ? { uses: [], isStarting: true } : nobody;
}

async function nodeNamed({ resources, signal }: Asking, name: string): Promise<V3Object | undefined> {
  try {
    return await resources.get("Node", { namespace: "", name }, { signal });
  } catch (error) {
    if (isResourceError(error, "not-found")) return undefined;
    throw error;
  }
}

async function usesOfServiceNamed(
  { services, signal }: Asking,
  { namespace, service: name }: { namespace: string; service: string },
): Promise<AddressUse[]> {
  if (services === undefined) throw new Error("nobody can be asked for services");
  const stored = await services.get("Service", { namespace, name }, { signal });
  return stored === undefined ? [] : usesOfService(stored.value as ServiceObject);
}

/** What cannot be read may have any address: then nobody can say that one is free. */
function mustBeReadable(what: string, unreadable: Listed["unreadable"]): void {
  const [first] = unreadable;
  if (first === undefined) return;
  throw new Error(`${what} ${first.id.name} cannot be read: ${first.problem}. Correct or delete it, and check again`);
}

/** Costly, and only asked for where a block does not say whose an address is. */
async function everybodysUses(asking: Asking): Promise<Found> {
  const { resources, services, signal } = asking;
  const nodes = await resources.list("Node", { signal });
  const workloads = await readWorkloads(asking);
  mustBeReadable("node", nodes.unreadable);
  mustBeReadable("workload endpoint", workloads.unreadable);
  const uses = [...nodes.items.flatMap(usesOfNode), ...workloads.uses];
  if (services === undefined) return { uses, isStarting: false };
  for await (const { items } of services.list("Service", { signal })) {
    uses.push(...items.flatMap(({ value }) => usesOfService(value as ServiceObject)));
  }
  return { uses, isStarting: false };
}

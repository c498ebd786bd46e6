// GC: what is left of containers that the runtime does not know any more. Interfaces say whose they are; endpoints are found by the pods whose
// addresses were given back. What belongs to other networks, or was made by a plugin that does not say for whom, is left alone.
import { findPod } from "./cluster-facts.ts";
import { usualInterface } from "./known-endpoint.ts";
import type { EndpointEdge, EndpointRequest } from "./request.ts";
import { forgetEndpoint } from "./unplug.ts";

export type Collection = {
  readonly request: EndpointRequest;
  /** Containers that are still there. */
  readonly valid: ReadonlySet<string>;
  /** Those whose addresses IPAM has given back. */
  readonly holders: readonly { readonly containerId: string; readonly pod: EndpointRequest["pod"] }[];
};

/** Of how many containers something was left. */
export async function collect({ request, valid, holders }: Collection, edge: EndpointEdge): Promise<number> {
  const ofNetwork = `${request.settings.network}.`;
  const isGone = (holder: string) => holder.startsWith(ofNetwork) && !valid.has(holder.slice(ofNetwork.length));
  const removed = await edge.network.collect(request.prefix, isGone, edge);
  const gone = new Map(removed.map((holder) => [holder.slice(ofNetwork.length), undefined as EndpointRequest["pod"]]));
  for (const { containerId, pod } of holders) gone.set(containerId, pod);
  for (const [containerId, pod] of gone) await forget({ ...request, containerId, pod, ifname: usualInterface }, edge);
  return gone.size;
}

async function forget(request: EndpointRequest, edge: EndpointEdge): Promise<void> {
  const { datastore } = edge;
  const isPodsOnly = datastore.flavour === "kubernetes" && datastore.holdsEveryKind !== true;
  if (request.pod === undefined && isPodsOnly) return; // only pods have endpoints there
  if (request.pod !== undefined && isPodsOnly && (await findPod(datastore, request.pod)) === undefined) return;
  await forgetEndpoint(request, edge);
}

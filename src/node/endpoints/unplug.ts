// DEL: the endpoint first, so that nobody is told of an address that is given back, then the interface, then the address. Everything may be gone
// already, or belong to a newer sandbox of the same pod: that is left alone.
import { isDatastoreError } from "../../calico/datastore/index.ts";
import { isResourceError, type V3Object } from "../../calico/resources/index.ts";
import { findPod, withAnyCidrs } from "./cluster-facts.ts";
import { endpointId } from "./endpoint.ts";
import { EndpointError } from "./endpoint-error.ts";
import { knownEndpoint } from "./known-endpoint.ts";
import { type EndpointEdge, type EndpointRequest, holderOf } from "./request.ts";

const tries = 6;
const podIp = "cni.projectcalico.org/podIP";
const podIps = "cni.projectcalico.org/podIPs";
const containerIdAnnotation = "cni.projectcalico.org/containerID";

/** Whose the pod's endpoint is now. */
type Owner = "this container" | "another container" | "nobody";

export async function unplug(request: EndpointRequest, edge: EndpointEdge): Promise<void> {
  await edge.mustBeReady();
  const owner = await forgetEndpoint(request, edge);
  const { configuration, settings, pod } = request;
  const ipam = async () => {
    if (settings.ipamType !== "") await edge.ipam.del(withAnyCidrs(configuration));
  };
  // One who is no pod gives the address back first, as by the original. That this failed is told when the interface is gone as well.
  const [early] = await Promise.allSettled(pod === undefined ? [ipam()] : []);
  const side = { hostSide: request.hostSide, holder: holderOf(request) };
  const byNode = await edge.network.unplugOnNode({ ...side, orNobodys: false }, edge);
  const inPod = request.netns !== "" && (await edge.network.unplugInPod(request.netns, request.ifname));
  // An interface that does not say whose it is was made by the original. Without the pod's namespace it is known by its name alone, which a newer
  // sandbox of the pod has too: then the endpoint says whose it is.
  if (!byNode && !inPod && owner === "this container") {
    await edge.network.unplugOnNode({ ...side, orNobodys: true }, edge);
  }
  if (pod !== undefined) await ipam();
  if (early?.status === "rejected") throw early.reason;
}

export async function forgetEndpoint(request: EndpointRequest, edge: EndpointEdge): Promise<Owner> {
  let last: unknown;
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      if (edge.datastore.flavour === "kubernetes" && request.pod !== undefined) {
        return await clearPod(request.pod, request, edge);
      }
      return await deleteEndpoint(request, edge);
    } catch (error) {
      if (!isResourceError(error, "conflict") && !isDatastoreError(error, "conflict")) throw error;
      last = error;
    }
  }
  const why = last instanceof Error ? last.message : String(last);
  throw new EndpointError(`error deleting endpoint: endpoint was modified before it could be deleted: ${why}`, {
    cause: last,
  });
}

/** A pod that says nothing of addresses has nothing to be cleared. */
async function clearPod(
  id: { readonly namespace: string; readonly name: string },
  { containerId }: EndpointRequest,
  { datastore }: EndpointEdge,
): Promise<Owner> {
  const pod = await findPod(datastore, id);
  if (pod === undefined) return "nobody";
  const { annotations, uid, revision } = pod;
  const holder = annotations[containerIdAnnotation] ?? "";
  if (holder !== "" && holder !== containerId) return "another container";
  const owner = holder === containerId ? "this container" : "nobody";
  if (!annotations[podIp] && !annotations[podIps]) return owner;
  const patch = { metadata: { annotations: { [podIp]: "", [podIps]: "" }, ...(uid === undefined ? {} : { uid }) } };
  try {
    await datastore.patch("Pod", id, patch, { through: "status", revision: revision as never });
    return owner;
  } catch (error) {
    if (isDatastoreError(error, "not-found")) return owner;
    throw error;
  }
}

async function deleteEndpoint(request: EndpointRequest, edge: EndpointEdge): Promise<Owner> {
  const { datastore, resources } = edge;
  const id = endpointId(request);
  try {
    if (datastore.flavour === "kubernetes" && datastore.holdsEveryKind !== true) {
      await resources.delete("WorkloadEndpoint", id); // which refuses those that are no pods
      return "nobody";
    }
    const found = await storedEndpoint(request, edge);
    if (found === undefined) return "nobody";
    const { containerID = "" } = found.spec;
    if (containerID !== "" && containerID !== request.containerId) return "another container";
    const { resourceVersion, uid, name = id.name } = found.metadata;
    await resources.delete(
      "WorkloadEndpoint",
      { ...id, name },
      {
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(uid === undefined ? {} : { uid }),
      },
    );
    return "this container";
  } catch (error) {
    if (isResourceError(error, "not-found")) return "nobody";
    if (isResourceError(error, "invalid")) throw new EndpointError(error.message, { cause: error });
    throw error;
  }
}

/** A pod's may be called after an interface of an earlier sandbox: by its container it is known. */
async function storedEndpoint(request: EndpointRequest, edge: EndpointEdge): Promise<V3Object | undefined> {
  try {
    return await edge.resources.get("WorkloadEndpoint", endpointId(request));
  } catch (error) {
    if (!isResourceError(error, "not-found")) throw error;
  }
  const known = request.pod === undefined ? undefined : await knownEndpoint(request, edge);
  return known?.spec.containerID === request.containerId ? known : undefined;
}

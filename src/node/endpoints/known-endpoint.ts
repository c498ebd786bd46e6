// The endpoint that a pod or container has already, where endpoints are objects of their own. There is one for each, whatever its interfaces are
// called: the node's end of all of them has one name. So a second ADD keeps the name of the endpoint that is there.
//
// A container that is no pod may be added to several networks, and gets one interface: the second ADD answers with what the first made.
import type { V3Object } from "../../calico/resources/index.ts";
import { endpointId } from "./endpoint.ts";
import type { EndpointEdge, EndpointRequest } from "./request.ts";
import type { PluggedIn } from "./result.ts";

export async function knownEndpoint(request: EndpointRequest, edge: EndpointEdge): Promise<V3Object | undefined> {
  if (isOnPod(request, edge)) return undefined;
  const { namespace, name } = endpointId({ ...request, ifname: usualInterface });
  const namePrefix = name.slice(0, -usualInterface.length);
  const { items } = await edge.resources.list("WorkloadEndpoint", { within: { namespace, namePrefix } });
  return items.find((each) => isOf(request, each));
}

/** On Kubernetes a pod's endpoint is the pod. */
export function isOnPod({ pod }: EndpointRequest, { datastore }: EndpointEdge): boolean {
  return datastore.flavour === "kubernetes" && (pod !== undefined || datastore.holdsEveryKind !== true);
}

export const usualInterface = "eth0";

/** Names of other pods begin alike. */
function isOf({ node, pod, containerId }: EndpointRequest, { spec }: V3Object): boolean {
  if (spec.node !== node) return false;
  return pod === undefined
    ? spec.orchestrator === "cni" && spec.containerID === containerId
    : spec.orchestrator === "k8s" && spec.pod === pod.name;
}

/** What an ADD of a container is told that has its interface; undefined: it has none, or is a pod, and everything is made anew. */
export async function joined(
  request: EndpointRequest,
  edge: EndpointEdge,
  known: V3Object | undefined,
): Promise<PluggedIn | undefined> {
  const { netns, ifname, mtu, pod } = request;
  if (pod !== undefined || known === undefined) return undefined;
  const { endpoint, ipNetworks, interfaceName, mac } = known.spec;
  if (!Array.isArray(ipNetworks) || !(await edge.network.isPlugged(netns, String(endpoint)))) return undefined;
  const { namespace = "", name = "" } = known.metadata;
  const withProfile = (current = known) => profiled(current, request.settings.network);
  await edge.resources.edit("WorkloadEndpoint", { namespace, name }, withProfile);
  const addresses = ipNetworks.map((network) => {
    const address = String(network).replace(/\/\d+$/, "");
    return { family: address.includes(":") ? 6 : 4, address } as const;
  });
  const link = { endpoint: String(endpoint), hostSide: String(interfaceName), ifname, mac: String(mac), mtu };
  return { addresses, routes: [], ...link, sandbox: netns };
}

function profiled(object: V3Object, network: string): V3Object | "nothing" {
  const { profiles } = object.spec;
  const there: readonly unknown[] = Array.isArray(profiles) ? profiles : [];
  if (there.includes(network)) return "nothing";
  return { ...object, spec: { ...object.spec, profiles: [...there, network] } };
}

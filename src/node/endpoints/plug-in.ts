// ADD: addresses, the interface, and the endpoint that tells Felix of them. Whatever fails is undone from there back, so that a pod which did
// not start holds nothing: neither an address nor an interface with one that somebody else may get.
import { type JsonRecord, messageOf } from "../../base/lib/index.ts";
import { annotatePod, isResourceError, type V3Object } from "../../calico/resources/index.ts";
import {
  type Annotations,
  addressingOf,
  askedMac,
  checkFloatingAddresses,
  floatingAddresses,
  withAskedPools,
} from "./annotations.ts";
import { annotationsOfNamespace, findPod, type PodFacts, withPodCidrs } from "./cluster-facts.ts";
import { endpointId, endpointOf, networkProfile } from "./endpoint.ts";
import { EndpointError } from "./endpoint-error.ts";
import type { PodLink } from "./network/pod-network.ts";
import { type EndpointEdge, type EndpointRequest, holderOf } from "./request.ts";
import type { Assigned, PluggedIn } from "./result.ts";

export async function plugIn(request: EndpointRequest, edge: EndpointEdge): Promise<PluggedIn> {
  await edge.mustBeReady();
  await refuseWhatCannotBe(request, edge);
  const { settings } = request;
  const { pod, namespace } = await factsOf(request, edge);
  const annotations = pod?.annotations ?? {};
  const mac = askedMac(annotations);
  checkFloatingAddresses(annotations, settings);
  const asked = withAskedPools(request.configuration, { pod: annotations, namespace });
  const configuration = await withPodCidrs(asked, request.node, edge.cluster);
  edge.signal?.throwIfAborted();
  const assigned = await assign(request, edge, { pod, configuration });
  return await undoing(request, edge, configuration, async () => {
    edge.signal?.throwIfAborted();
    const link: PodLink = {
      holder: holderOf(request),
      hostSide: request.hostSide,
      netns: request.netns,
      ifname: request.ifname,
      mtu: request.mtu,
      queues: settings.queues,
      kind: settings.deviceType === "netkit" ? "netkit" : "veth",
      mac,
      addresses: assigned.addresses,
      podRoutes: podRoutes(request),
      allowIpForwarding: settings.allowIpForwarding,
    };
    const made = await edge.network.plug(link, edge);
    const facts = { addresses: assigned.addresses, mac: made, view: pod?.view };
    const endpoint = endpointOf(request, { ...facts, floatingAddresses: floatingAddresses(annotations) });
    edge.signal?.throwIfAborted();
    await writeEndpoint(request, edge, { endpoint, pod });
    mustStand(await edge.network.lost(link, edge));
    const { hostSide, ifname, mtu, netns: sandbox } = request;
    return { ...assigned, hostSide, ifname, mac: made, mtu, sandbox };
  });
}

/** A pod that is told to be connected is: what somebody took away meanwhile makes the ADD fail, and the runtime repeats it. */
function mustStand(lost: readonly string[]): void {
  if (lost.length === 0) return;
  throw new EndpointError(`the pod's interface did not stay as it was made: ${lost.join("; ")}`, {
    next: "another program removes interfaces or routes: find it with ip monitor link route",
  });
}

/** Before anything is taken. */
async function refuseWhatCannotBe(request: EndpointRequest, { datastore, resources }: EndpointEdge): Promise<void> {
  const { pod, settings } = request;
  if (datastore.flavour !== "kubernetes" || datastore.holdsEveryKind === true) return;
  if (pod === undefined) {
    const { namespace, name } = endpointId(request);
    // Nothing but pods has endpoints there: refused in the words for an endpoint that is asked for.
    await resources.get("WorkloadEndpoint", { namespace, name: name.replace(/-[^-]*$/, "-*") });
  }
  if (settings.policyType !== "k8s") throw new EndpointError(`Invalid name ${settings.network}`);
}

type Facts = { readonly pod: PodFacts | undefined; readonly namespace: Annotations };

/** Both are read at once; where pods are not read there is neither. */
async function factsOf({ pod, uid, settings }: EndpointRequest, edge: EndpointEdge): Promise<Facts> {
  if (pod === undefined || settings.policyType !== "k8s") return { pod: undefined, namespace: {} };
  const cluster = await edge.cluster();
  const namespace = annotationsOfNamespace(cluster, pod.namespace);
  namespace.catch(() => undefined); // the pod's error is told first
  const found = await findPod(cluster, pod);
  if (found === undefined) throw new EndpointError(`pods "${pod.name}" not found`);
  if (!isFor(found, uid)) throw replaced(pod);
  return { pod: found, namespace: await namespace };
}

/** A pod that a node runs from a file has another uid there than its mirror has in the API. */
function isFor({ uid, annotations }: PodFacts, wanted: string | undefined): boolean {
  if (wanted === undefined || uid === undefined || uid === wanted) return true;
  return annotations["kubernetes.io/config.mirror"] !== undefined;
}

function replaced({ namespace, name }: Id, cause?: unknown): EndpointError {
  return new EndpointError(`pod ${namespace}/${name} was replaced by another of its name while it got its network`, {
    cause,
  });
}

type Id = { readonly namespace: string; readonly name: string };

type Assigning = { readonly pod: PodFacts | undefined; readonly configuration: JsonRecord };

async function assign(
  request: EndpointRequest,
  edge: EndpointEdge,
  { pod, configuration }: Assigning,
): Promise<Assigned> {
  const addressing = addressingOf(pod?.annotations ?? {}, request.settings);
  if (addressing.from === "annotation") return { addresses: familiesOf(addressing.addresses), routes: [] };
  if (addressing.from === "ipam") return await edge.ipam.add(configuration);
  await releaseOld(request, edge, pod);
  const addresses: Assigned["addresses"][number][] = [];
  try {
    for (const address of addressing.addresses)
      addresses.push(...(await edge.ipam.add(configuration, address)).addresses);
  } catch (error) {
    if (addresses.length > 0) await edge.ipam.del(configuration).catch((why) => edge.warn(messageOf(why)));
    throw new EndpointError(`error getting IP from IPAM: ${messageOf(error)}`, { cause: error });
  }
  return { addresses, routes: [] };
}

/** A named address can be held once: an older sandbox of the pod gives it up. */
async function releaseOld(request: EndpointRequest, edge: EndpointEdge, pod: PodFacts | undefined): Promise<void> {
  const old = edge.datastore.flavour === "kubernetes" ? pod?.view : await storedEndpoint(request, edge);
  const { ipNetworks, containerID } = old?.spec ?? {};
  if (!Array.isArray(ipNetworks) || ipNetworks.length === 0 || containerID === request.containerId) return;
  await edge.ipam.release(ipNetworks.map((network) => String(network).replace(/\/\d+$/, "")));
}

async function storedEndpoint(request: EndpointRequest, { resources }: EndpointEdge): Promise<V3Object | undefined> {
  try {
    return await resources.get("WorkloadEndpoint", endpointId(request));
  } catch (error) {
    if (isResourceError(error, "not-found")) return undefined;
    throw error;
  }
}

function familiesOf(addresses: readonly string[]): Assigned["addresses"] {
  return addresses.map((address) => ({ family: address.includes(":") ? 6 : 4, address }));
}

/** host-local's routes take the place of the default routes, unless both are asked for. */
function podRoutes({ settings }: EndpointRequest): readonly string[] | undefined {
  const { podRoutes: routes, includeDefaultRoutes } = settings;
  if (routes.length === 0) return undefined;
  return includeDefaultRoutes ? [...new Set([...routes, "0.0.0.0/0", "::/0"])] : routes;
}

type Writing = { readonly endpoint: V3Object; readonly pod: PodFacts | undefined };

async function writeEndpoint(request: EndpointRequest, edge: EndpointEdge, { endpoint, pod }: Writing): Promise<void> {
  const { datastore, resources } = edge;
  if (datastore.flavour === "kubernetes" && request.pod !== undefined) {
    return await markPod(request.pod, edge, { endpoint, pod });
  }
  await resources.apply("WorkloadEndpoint", endpoint);
  if (request.settings.policyType === "k8s" && request.pod !== undefined) return;
  try {
    await resources.create("Profile", networkProfile(request));
  } catch (error) {
    if (!isResourceError(error, "exists")) throw error;
  }
}

/** With the uid of the pod that was read: another one of its name must not get this sandbox's marks. */
async function markPod(id: Id, { datastore }: EndpointEdge, { endpoint, pod }: Writing): Promise<void> {
  try {
    await annotatePod(datastore, endpoint, pod?.uid === undefined ? {} : { uid: pod.uid });
  } catch (error) {
    // An API server says "metadata.uid: field is immutable", which nobody understands who did not write the patch.
    if (!messageOf(error).includes("metadata.uid")) throw error;
    throw replaced(id, error);
  }
}

async function undoing<T>(
  request: EndpointRequest,
  edge: EndpointEdge,
  configuration: JsonRecord,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { hostSide } = request;
    const side = { hostSide, holder: holderOf(request), orNobodys: true };
    for (const undo of [() => edge.network.unplugOnNode(side, edge), () => edge.ipam.del(configuration)]) {
      try {
        await undo();
      } catch (why) {
        edge.warn(`this was not undone, and DEL has to: ${messageOf(why)}`);
      }
    }
    throw error;
  }
}

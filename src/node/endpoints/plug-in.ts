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
} from "./asked/annotations.ts";
import { checkPolicyWait, readPodRoutes } from "./asked/settings.ts";
import { annotationsOfNamespace, findPodAsEndpoint, type PodAsEndpoint, withPodCidrs } from "./cluster-facts.ts";
import { checkEndpointPrefix, endpointId, endpointOf, networkProfile } from "./endpoint.ts";
import { EndpointError } from "./endpoint-error.ts";
import { isOnPod, joined, knownEndpoint, usualInterface } from "./known-endpoint.ts";
import type { PodLink } from "./network/pod-link.ts";
import { type EndpointEdge, type EndpointRequest, holderOf } from "./request.ts";
import type { Assigned, PluggedIn } from "./result.ts";

export async function plugIn(request: EndpointRequest, edge: EndpointEdge): Promise<PluggedIn> {
  await edge.mustBeReady();
  const { settings } = request;
  if (request.pod !== undefined) checkPolicyWait(settings);
  const routes = podRoutes(request);
  await refuseWhatCannotBe(request, edge);
  const known = await knownEndpoint(request, edge);
  const there = await joined(request, edge, known);
  if (there !== undefined) {
    await makeProfile(request, edge);
    return there;
  }
  const { pod, namespace } = await factsOf(request, edge);
  const annotations = pod?.annotations ?? {};
  const mac = askedMac(annotations);
  checkFloatingAddresses(annotations, settings);
  const floating = floatingAddresses(annotations);
  const asked = withAskedPools(request.configuration, { pod: annotations, namespace });
  const configuration = await withPodCidrs(asked, request.node, edge.cluster);
  edge.signal?.throwIfAborted();
  const assigned = await assign(request, edge, {
    pod,
    configuration,
    old: pod === undefined ? known : (known ?? pod.view),
  });
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
      podRoutes: routes,
      allowIpForwarding: settings.allowIpForwarding,
    };
    const made = await edge.network.plug(link, edge);
    const facts = { addresses: assigned.addresses, mac: made, view: pod?.view };
    const called = named(request, known, edge);
    const endpoint = endpointOf(called, { ...facts, floatingAddresses: floating });
    edge.signal?.throwIfAborted();
    await writeEndpoint(request, edge, { endpoint, pod });
    mustStand(await edge.network.lost(link, edge));
    const { hostSide, ifname, mtu, netns: sandbox } = request;
    return { ...assigned, endpoint: called.ifname, hostSide, ifname, mac: made, mtu, sandbox };
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
async function refuseWhatCannotBe(request: EndpointRequest, edge: EndpointEdge): Promise<void> {
  const { pod, settings } = request;
  const { datastore, resources } = edge;
  checkEndpointPrefix(request);
  if (!isOnPod(request, edge)) endpointId(request); // which throws what cannot be named
  if (pod === undefined && settings.features.ipAddrsNoIpam) {
    throw new EndpointError("requested feature is not supported for this runtime: ip_addrs_no_ipam");
  }
  if (datastore.flavour !== "kubernetes" || datastore.holdsEveryKind === true) return;
  if (pod === undefined) {
    const { namespace, name } = endpointId(request);
    // Nothing but pods has endpoints there: refused in the words for an endpoint that is asked for.
    await resources.get("WorkloadEndpoint", { namespace, name: name.replace(/-[^-]*$/, "-*") });
  }
  if (settings.policyType === "") throw new EndpointError(`Invalid name ${settings.network}`);
}

type Facts = { readonly pod: PodAsEndpoint | undefined; readonly namespace: Annotations };

/** Both are read at once; where pods are not read there is neither. */
async function factsOf({ pod, uid, settings }: EndpointRequest, edge: EndpointEdge): Promise<Facts> {
  if (pod === undefined || settings.policyType !== "k8s") return { pod: undefined, namespace: {} };
  const cluster = await edge.cluster();
  const pods = findPodAsEndpoint(cluster, pod);
  pods.catch(() => undefined); // the namespace's error is told first, as by the original
  const namespace = await annotationsOfNamespace(cluster, pod.namespace);
  const found = await pods;
  if (found === undefined) throw new EndpointError(`pods "${pod.name}" not found`);
  if (!isFor(found, uid)) throw replaced(pod);
  return { pod: found, namespace };
}

/** A pod that a node runs from a file has another uid there than its mirror has in the API. */
function isFor({ uid, annotations }: PodAsEndpoint, wanted: string | undefined): boolean {
  if (wanted === undefined || uid === undefined || uid === wanted) return true;
  return annotations["kubernetes.io/config.mirror"] !== undefined;
}

function replaced({ namespace, name }: Id, cause?: unknown): EndpointError {
  return new EndpointError(`pod ${namespace}/${name} was replaced by another of its name while it got its network`, {
    cause,
  });
}

type Id = { readonly namespace: string; readonly name: string };

type Assigning = {
  readonly pod: PodAsEndpoint | undefined;
  readonly configuration: JsonRecord;
  /** The pod's endpoint until now. */
  readonly old: V3Object | undefined;
};

async function assign(
  request: EndpointRequest,
  edge: EndpointEdge,
  { pod, configuration, old }: Assigning,
): Promise<Assigned> {
  const addressing = addressingOf(pod?.annotations ?? {}, request.settings);
  if (addressing.from === "annotation") return { addresses: familiesOf(addressing.addresses), routes: [] };
  if (addressing.from === "ipam") return await edge.ipam.add(configuration);
  await releaseOld(request, edge, old);
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
async function releaseOld(request: EndpointRequest, edge: EndpointEdge, old: V3Object | undefined): Promise<void> {
  const { ipNetworks, containerID } = old?.spec ?? {};
  if (!Array.isArray(ipNetworks) || ipNetworks.length === 0 || containerID === request.containerId) return;
  await edge.ipam.release(ipNetworks.map((network) => String(network).replace(/\/\d+$/, "")));
}

/** As the endpoint is called that is there. A pod that is its own endpoint has one interface, by the usual name. */
function named(request: EndpointRequest, known: V3Object | undefined, edge: EndpointEdge): EndpointRequest {
  if (isOnPod(request, edge)) return { ...request, ifname: usualInterface };
  const { endpoint } = known?.spec ?? {};
  return typeof endpoint === "string" && endpoint !== "" ? { ...request, ifname: endpoint } : request;
}

function familiesOf(addresses: readonly string[]): Assigned["addresses"] {
  return addresses.map((address) => ({ family: address.includes(":") ? 6 : 4, address }));
}

/** host-local's routes take the place of a pod's default routes, unless both are asked for. As the original, for pods alone. */
function podRoutes({ settings, pod, configuration }: EndpointRequest): readonly string[] | undefined {
  const routes = pod === undefined ? [] : readPodRoutes(configuration);
  if (routes.length === 0) return undefined;
  return settings.includeDefaultRoutes ? [...new Set([...routes, "0.0.0.0/0", "::/0"])] : routes;
}

type Writing = { readonly endpoint: V3Object; readonly pod: PodAsEndpoint | undefined };

async function writeEndpoint(request: EndpointRequest, edge: EndpointEdge, { endpoint, pod }: Writing): Promise<void> {
  const { datastore, resources } = edge;
  if (datastore.flavour === "kubernetes" && request.pod !== undefined) {
    return await markPod(request.pod, edge, { endpoint, pod });
  }
  await store(endpoint, resources);
  await makeProfile(request, edge);
}

/** Not as a user's object is applied: what the pod was generated from is the endpoint's too. */
async function store(endpoint: V3Object, resources: EndpointEdge["resources"]): Promise<void> {
  try {
    await resources.create("WorkloadEndpoint", endpoint);
  } catch (error) {
    if (!isResourceError(error, "exists")) throw error;
    const { namespace = "", name = "", labels, generateName } = endpoint.metadata;
    await resources.edit("WorkloadEndpoint", { namespace, name }, (current = endpoint) => {
      const { generateName: _, ...metadata } = current.metadata;
      const generated = generateName === undefined ? {} : { generateName };
      return { ...endpoint, metadata: { ...metadata, ...generated, labels } };
    });
  }
}

/** Where nobody else says what is allowed. One that is there stays as it is. */
async function makeProfile(request: EndpointRequest, { resources }: EndpointEdge): Promise<void> {
  if (request.settings.policyType !== "") return;
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

// What Kubernetes knows about a pod, its namespace and its node, as far as a network interface needs it.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import { type Datastore, DatastoreError } from "../../calico/datastore/index.ts";
import { endpointOfPod, ResourceError, type V3Object } from "../../calico/resources/index.ts";
import { type Annotations, checkSourcePrefixes } from "./asked/annotations.ts";
import { EndpointError } from "./endpoint-error.ts";

export type PodFacts = {
  readonly annotations: Annotations;
  readonly uid: string | undefined;
  readonly revision: string;
};

export type PodAsEndpoint = PodFacts & {
  /** Undefined: on the host's network. */
  readonly view: V3Object | undefined;
};

type Id = { readonly namespace: string; readonly name: string };

/** Undefined: there is none. What is wrong with the pod's annotations is no matter here: it must go nevertheless. */
export async function findPod(cluster: Datastore, id: Id): Promise<PodFacts | undefined> {
  const found = await inItsWords(() => cluster.get("Pod", id));
  return found === undefined ? undefined : { ...metadataOf(found.value), revision: found.revision };
}

/** Throws what is wrong with its annotations; and one that is on no node is none that a node has. */
export async function findPodAsEndpoint(cluster: Datastore, id: Id): Promise<PodAsEndpoint | undefined> {
  const found = await inItsWords(() => cluster.get("Pod", id));
  if (found === undefined) return undefined;
  const metadata = metadataOf(found.value);
  if (!hasNode(found.value)) throw new EndpointError("error with field node (field should be assigned)");
  checkSourcePrefixes(metadata.annotations);
  const view = endpointOfPod(found, { interfacePrefix: "cali" });
  return { ...metadata, revision: found.revision, view };
}

export async function annotationsOfNamespace(cluster: Datastore, name: string): Promise<Annotations> {
  const found = await inItsWords(() => cluster.get("Namespace", { namespace: "", name }));
  if (found === undefined) throw new EndpointError(`namespaces "${name}" not found`);
  return metadataOf(found.value).annotations;
}

/** `usePodCidr` and `usePodCidrIPv6` of host-local's configuration are what the node was given. */
export async function withPodCidrs(
  configuration: JsonRecord,
  node: string,
  cluster: () => Promise<Datastore>,
): Promise<JsonRecord> {
  if (!/"usePodCidr(IPv6)?"/i.test(JSON.stringify(configuration.ipam ?? {}))) return configuration;
  const name = nodeOfCidrs(configuration) ?? node;
  const found = await inItsWords(async () => (await cluster()).get("Node", { namespace: "", name }));
  if (found === undefined) throw new EndpointError(`nodes "${name}" not found`);
  const spec = isRecord(found.value) && isRecord(found.value.spec) ? found.value.spec : {};
  const listed = Array.isArray(spec.podCIDRs) ? spec.podCIDRs : [spec.podCIDR];
  const cidrs = listed.filter((each): each is string => typeof each === "string" && each !== "");
  const next = "let the controller manager allocate node CIDRs, of both families if both are asked for";
  if (cidrs.length === 0) throw new EndpointError(`no podCidr for node ${name}`, { next });
  const ofFamily = (isVersion6: boolean): string => {
    const cidr = cidrs.find((each) => each.includes(":") === isVersion6);
    if (cidr !== undefined) return cidr;
    const [word, family] = isVersion6 ? ["usePodCidrIPv6", "IPv6"] : ["usePodCidr", "IPv4"];
    throw new EndpointError(`${word} found but there is no ${family} CIDR configured`, { next });
  };
  return { ...configuration, ipam: replaced(configuration.ipam, ofFamily) };
}

/** `kubernetes.node_name`: where the cluster calls the node otherwise. */
function nodeOfCidrs({ kubernetes }: JsonRecord): string | undefined {
  const name = isRecord(kubernetes) ? kubernetes.node_name : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/**
 * To give an address back, or to look at it, no plugin needs to know which CIDR it was from; but it must be one, and host-local refuses ranges that
 * overlap. Every address there is, which the original says, overlaps with any other range: its DEL then fails for ever. So each place gets a small CIDR
 * of its own that no pod has, and what was to lie within the real one goes.
 */
export function withAnyCidrs(configuration: JsonRecord): JsonRecord {
  let next = 0;
  const another = (isVersion6: boolean) => {
    const at = 4 * next++;
    return isVersion6 ? `::${at.toString(16)}/126` : `0.0.${at >> 8}.${at & 255}/30`;
  };
  const ipam = replaced(withoutBounds(configuration.ipam), another);
  return ipam === undefined ? configuration : { ...configuration, ipam };
}

const podCidrWord = /^usePodCidr(IPv6)?$/i;

function withoutBounds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBounds);
  if (!isRecord(value)) return value;
  const bounds = typeof value.subnet === "string" && podCidrWord.test(value.subnet) ? boundsOfRange : [];
  const kept = Object.entries(value).filter(([name]) => !bounds.includes(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutBounds(each)]));
}

const boundsOfRange: readonly string[] = ["rangeStart", "rangeEnd", "gateway"];

function replaced(value: unknown, ofFamily: (isVersion6: boolean) => string): unknown {
  if (typeof value === "string" && podCidrWord.test(value)) return ofFamily(/6$/.test(value));
  if (Array.isArray(value)) return value.map((each) => replaced(each, ofFamily));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, ofFamily)]));
}

/** The API server's own words, however often the error was wrapped. */
async function inItsWords<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error;
    for (let at: unknown = error; at instanceof DatastoreError; at = at.cause) {
      if (at.says !== undefined) throw new EndpointError(at.says, { cause: error });
    }
    throw new ResourceError("unavailable", error.message, { cause: error });
  }
}

function hasNode(pod: unknown): boolean {
  return isRecord(pod) && isRecord(pod.spec) && typeof pod.spec.nodeName === "string" && pod.spec.nodeName !== "";
}

function metadataOf(value: unknown): { readonly annotations: Annotations; readonly uid: string | undefined } {
  const metadata = isRecord(value) && isRecord(value.metadata) ? value.metadata : {};
  const annotations = isRecord(metadata.annotations) ? metadata.annotations : {};
  const texts = Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { annotations: Object.fromEntries(texts), uid: typeof metadata.uid === "string" ? metadata.uid : undefined };
}

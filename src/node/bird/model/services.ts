// Services: which of their ranges and addresses this node announces. Pure: the same services and endpoint slices always give the same routes, so a
// slice that went cannot leave one behind.
import { type AddressRange, bitsOf, holds, isRecord, parseRange, rangeText } from "../../../base/lib/index.ts";
import type { BgpConfigurationSpec } from "../../../calico/kinds/index.ts";

/** What is needed of a Service. */
export type ServiceFacts = {
  readonly key: string;
  readonly type: string;
  readonly clusterIps: readonly string[];
  readonly externalIps: readonly string[];
  /** That it has. */
  readonly loadBalancerIps: readonly string[];
  /** That it asks for; "": for none. */
  readonly wantedLoadBalancerIp: string;
  readonly trafficPolicy: string;
  readonly families: readonly string[];
};

/** What is needed of an EndpointSlice. */
export type SliceFacts = {
  /** Of the service: NAMESPACE/NAME. */
  readonly service: string;
  readonly family: string;
  /** Of its ready endpoints; "" for one that is on no node. */
  readonly readyNodes: readonly string[];
};

/** The ranges that a BGPConfiguration names. */
export type ServiceRanges = {
  readonly cluster: readonly AddressRange[];
  readonly external: readonly AddressRange[];
  readonly loadBalancer: readonly AddressRange[];
  readonly aggregates: boolean;
};

export function serviceRanges(spec: BgpConfigurationSpec, clusterIps: readonly string[] | undefined): ServiceRanges {
  const ranges = (blocks: readonly { readonly cidr?: string | undefined }[] = []) =>
    read(blocks.map(({ cidr = "" }) => cidr));
  return {
    cluster: clusterIps === undefined ? ranges(spec.serviceClusterIPs) : read(clusterIps),
    external: ranges(spec.serviceExternalIPs),
    loadBalancer: ranges(spec.serviceLoadBalancerIPs),
    aggregates: spec.serviceLoadBalancerAggregation !== "Disabled",
  };
}

function read(texts: readonly string[]): readonly AddressRange[] {
  return texts.flatMap((text) => parseRange(text.trim()) ?? []);
}

/** Services and endpoint slices are followed only then. */
export function hasServiceRanges({ cluster, external, loadBalancer }: ServiceRanges): boolean {
  return cluster.length + external.length + loadBalancer.length > 0;
}

export const isSingle = ({ family, prefixLength }: AddressRange): boolean => prefixLength === bitsOf(family);

/**
 * Announced by every node, and nothing inside is put into the kernel: not single addresses of the last two lists. Balanced addresses that are
 * announced one by one are routes like any other, which lead to a node that has an endpoint.
 */
export function announcedRanges({
  cluster,
  external,
  loadBalancer,
  aggregates,
}: ServiceRanges): readonly AddressRange[] {
  return [...cluster, ...[...external, ...(aggregates ? loadBalancer : [])].filter((range) => !isSingle(range))];
}

/** The services' own addresses that a node announces, as networks of one. */
export function serviceAddresses(
  services: readonly ServiceFacts[],
  slices: readonly SliceFacts[],
  where: { readonly ranges: ServiceRanges; readonly node: string },
): readonly AddressRange[] {
  const bySlice = Map.groupBy(slices, ({ service }) => service);
  const found = new Map<string, AddressRange>();
  for (const service of services) {
    if (!isAnnounced(service, bySlice.get(service.key) ?? [], where)) continue;
    for (const address of addressesOf(service, where.ranges)) found.set(rangeText(address), address);
  }
  return [...found.values()];
}

const types = ["ClusterIP", "NodePort", "LoadBalancer"];

function isAnnounced(
  service: ServiceFacts,
  slices: readonly SliceFacts[],
  { ranges, node }: { ranges: ServiceRanges; node: string },
): boolean {
  const [clusterIp = ""] = service.clusterIps;
  if (!types.includes(service.type) || clusterIp === "" || clusterIp === "None") return false;
  if (slices.length === 0) return false; // nobody ever answers there
  const { trafficPolicy } = service;
  if (trafficPolicy === "Cluster" && hasSingleAddress(service, ranges)) return true;
  const isLocal = trafficPolicy === "Local";
  if (!isLocal && ranges.aggregates) return false;
  return slices.some(
    ({ family, readyNodes }) =>
      service.families.includes(family) && (isLocal ? readyNodes.includes(node) : readyNodes.length > 0),
  );
}

function hasSingleAddress(service: ServiceFacts, { external, loadBalancer }: ServiceRanges): boolean {
  const isOneOf = (addresses: readonly string[], ranges: readonly AddressRange[]) =>
    addresses.some((address) => ranges.some((range) => isSingle(range) && isIn(address, range)));
  const balanced = [service.wantedLoadBalancerIp, ...service.loadBalancerIps];
  if (service.type === "LoadBalancer" && isOneOf(balanced, loadBalancer)) return true;
  return isOneOf(service.externalIps, external);
}

function addressesOf(
  service: ServiceFacts,
  { cluster, external, loadBalancer }: ServiceRanges,
): readonly AddressRange[] {
  const allowed = (addresses: readonly string[], ranges: readonly AddressRange[]) =>
    addresses.filter((address) => ranges.some((range) => isIn(address, range)));
  return [
    ...(cluster.length > 0 ? service.clusterIps : []),
    ...allowed(service.externalIps, external),
    ...allowed(service.loadBalancerIps, loadBalancer),
  ].flatMap((address) => (address.includes("/") ? [] : (parseRange(address) ?? [])));
}

function isIn(address: string, range: AddressRange): boolean {
  const one = address.includes("/") ? undefined : parseRange(address);
  return one !== undefined && holds(range, one);
}

/** Undefined: not a Service. */
export function readService(value: unknown): ServiceFacts | undefined {
  if (!isRecord(value) || !isRecord(value.metadata) || !isRecord(value.spec)) return undefined;
  const { metadata, spec } = value;
  const status = isRecord(value.status) && isRecord(value.status.loadBalancer) ? value.status.loadBalancer : {};
  const ingress = Array.isArray(status.ingress) ? status.ingress : [];
  const clusterIps = texts(spec.clusterIPs);
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    type: text(spec.type),
    clusterIps: clusterIps.length > 0 ? clusterIps : [text(spec.clusterIP)],
    externalIps: texts(spec.externalIPs),
    loadBalancerIps: ingress.map((each) => (isRecord(each) ? text(each.ip) : "")).filter(Boolean),
    wantedLoadBalancerIp: text(spec.loadBalancerIP),
    trafficPolicy: text(spec.externalTrafficPolicy),
    families: texts(spec.ipFamilies),
  };
}

/** Undefined: not an EndpointSlice, or one of no service. */
export function readSlice(value: unknown): SliceFacts | undefined {
  if (!isRecord(value) || !isRecord(value.metadata)) return undefined;
  const { metadata } = value;
  const service = isRecord(metadata.labels) ? text(metadata.labels["kubernetes.io/service-name"]) : "";
  if (service === "") return undefined;
  const endpoints = Array.isArray(value.endpoints) ? value.endpoints.filter(isRecord) : [];
  // An endpoint that says nothing of its readiness is ready: the API wants it so.
  const ready = endpoints.filter(({ conditions }) => !isRecord(conditions) || conditions.ready !== false);
  return {
    service: `${metadata.namespace}/${service}`,
    family: text(value.addressType),
    readyNodes: [...new Set(ready.map(({ nodeName }) => text(nodeName)))],
  };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

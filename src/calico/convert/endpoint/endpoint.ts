// The workload endpoint as Felix reads it: its JSON, its path and its validation. Pods (pod.ts) and stored endpoints
// (workload-endpoint.ts) both end here. Written by hand rather than by a go-json table, because of 150,000 pods at once
// (bench/convert/pods.ts); endpoint.test.ts holds it to the table.
import { escapeName, isPlainName, type StringMap, sortByUtf8, writeGoString } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";

export type EndpointPort = {
  readonly name: string;
  /** A lower-case name, or a number. */
  readonly protocol: string | number;
  readonly port: number;
};
export type Nat = { readonly internalIp: string; readonly externalIp: string };

/** Addresses are canonical texts; the maps are JSON already. */
export type Endpoint = {
  readonly name: string;
  readonly mac: string | undefined;
  /** Undefined is written as null, and an empty list as one. */
  readonly profileIds: readonly string[] | undefined;
  readonly ipv4Nets: readonly string[];
  readonly ipv6Nets: readonly string[];
  readonly ipv4Nats: readonly Nat[];
  readonly ipv6Nats: readonly Nat[];
  readonly labels: string;
  readonly ipv4Gateway: string | undefined;
  readonly ipv6Gateway: string | undefined;
  readonly ports: readonly EndpointPort[];
  readonly generateName: string;
  readonly allowedSources: readonly string[];
  readonly annotations: string | undefined;
  readonly qosControls: string | undefined;
};

export function writeEndpoint(endpoint: Endpoint): string {
  let text = `{"state":"active","name":${writeGoString(endpoint.name)},"active_instance_id":"","mac":`;
  text += endpoint.mac === undefined ? "null" : `"${endpoint.mac}"`;
  const { profileIds } = endpoint;
  text += `,"profile_ids":${profileIds?.length === 0 ? "[]" : writeList(profileIds ?? [], writeGoString)}`;
  text += `,"ipv4_nets":${writeList(endpoint.ipv4Nets, quote)},"ipv6_nets":${writeList(endpoint.ipv6Nets, quote)}`;
  if (endpoint.ipv4Nats.length > 0) text += `,"ipv4_nat":${writeList(endpoint.ipv4Nats, writeNat)}`;
  if (endpoint.ipv6Nats.length > 0) text += `,"ipv6_nat":${writeList(endpoint.ipv6Nats, writeNat)}`;
  text += `,"labels":${endpoint.labels}`;
  if (endpoint.ipv4Gateway !== undefined) text += `,"ipv4_gateway":"${endpoint.ipv4Gateway}"`;
  if (endpoint.ipv6Gateway !== undefined) text += `,"ipv6_gateway":"${endpoint.ipv6Gateway}"`;
  if (endpoint.ports.length > 0) text += `,"ports":${writeList(endpoint.ports, writePort)}`;
  if (endpoint.generateName !== "") text += `,"generate_name":${writeGoString(endpoint.generateName)}`;
  if (endpoint.allowedSources.length > 0) {
    text += `,"allow_spoofed_source_ips":${writeList(endpoint.allowedSources, quote)}`;
  }
  if (endpoint.annotations !== undefined) text += `,"annotations":${endpoint.annotations}`;
  if (endpoint.qosControls !== undefined) text += `,"qosControls":${endpoint.qosControls}`;
  return `${text}}`;
}

/** keyToPath for a pod, whose parts are known to be there, without its detours. */
export function podEndpointPath(hostname: string, namespace: string, name: string): string {
  return `/calico/v1/host/${hostname}/workload/k8s/${escapeName(namespace)}%2f${escapeName(name)}/endpoint/eth0`;
}

/** What the validation filter rejects in an endpoint; undefined: it is good. */
export function endpointProblem(endpoint: Endpoint, fieldOf: PortField): FieldProblem | undefined {
  if (endpoint.name === "") return { field: "spec.interfaceName", rule: "must not be empty" };
  return portsProblem(endpoint.ports, fieldOf);
}

/** Where the user wrote what is at this place of an endpoint's ports. */
export type PortField = (at: number, member: keyof EndpointPort) => string;

/** The same of any endpoint's ports. */
export function portsProblem(ports: readonly EndpointPort[], fieldOf: PortField): FieldProblem | undefined {
  for (const [at, { name, protocol, port }] of ports.entries()) {
    if (!isPlainName(name)) return { field: fieldOf(at, "name"), rule: "must be 1 to 128 letters, digits, _ . or -" };
    if (port === 0) return { field: fieldOf(at, "port"), rule: "must be from 1 to 65535" };
    if (protocol !== "tcp" && protocol !== "udp" && protocol !== "sctp") {
      return { field: fieldOf(at, "protocol"), rule: "must be TCP, UDP or SCTP, by name" };
    }
  }
  return undefined;
}

/**
 * The labels of an endpoint as JSON: those that imitate namespace and service account labels go, Calico's own are set.
 * Texts are joined rather than collected in an object: a label named __proto__ is a label.
 */
export function writeEndpointLabels(labels: StringMap, own: ReadonlyMap<string, string>): string {
  const names: string[] = [];
  for (const name of Object.keys(labels)) {
    if (!own.has(name) && !name.startsWith("pcns.") && !name.startsWith("pcsa.")) names.push(name);
  }
  for (const name of own.keys()) names.push(name);
  sortByUtf8(names);
  let text = "";
  for (const name of names) {
    text += `${text === "" ? "{" : ","}${writeGoString(name)}:${writeGoString(own.get(name) ?? labels[name] ?? "")}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** A list of nothing is null: these are Go slices that were never made. */
function writeList<T>(items: readonly T[], write: (item: T) => string): string {
  if (items.length === 0) return "null";
  let text = "";
  for (const item of items) text += `${text === "" ? "[" : ","}${write(item)}`;
  return `${text}]`;
}

function quote(text: string): string {
  return `"${text}"`;
}

function writeNat({ internalIp, externalIp }: Nat): string {
  return `{"int_ip":"${internalIp}","ext_ip":"${externalIp}"}`;
}

function writePort({ name, protocol, port }: EndpointPort): string {
  const writtenProtocol = typeof protocol === "number" ? protocol : writeGoString(protocol);
  return `{"name":${writeGoString(name)},"protocol":${writtenProtocol},"port":${port}}`;
}

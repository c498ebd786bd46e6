// One pod to its workload endpoint: the pure part of pod.ts. Members are read by their names rather than by readers that
// take the name as an argument, and texts are joined once: with 150,000 pods this is where the time goes
// (bench/convert/pods.ts).
import type { JsonRecord, Network } from "../../../base/lib/index.ts";
import { FieldError, recordOf, type StringMap, writeGoString } from "../../model/index.ts";
import { type Endpoint, type EndpointPort, podEndpointPath, writeEndpointLabels } from "../endpoint/endpoint.ts";
import { absent, type Converted, invalid, type ProcessorId, type Warning } from "../processor/processor.ts";
import { isPodFinished, noNats, podAllowedSources, podNats, podNetworks } from "./pod-addresses.ts";
import { asksForQos, podQosControls } from "./pod-qos.ts";
import { createShortSha1 } from "./sha1.ts";

type PodEndpoint = { readonly path: string; readonly endpoint: Endpoint };
type PodConverter = (id: ProcessorId, value: unknown) => Converted<PodEndpoint>;

const networkStatus = "k8s.v1.cni.cncf.io/network-status";
const empty: JsonRecord = {};
const none: StringMap = {};

export function createPodConverter(interfacePrefix: string): PodConverter {
  const shortSha1 = createShortSha1();
  const interfaceName = (workload: string) => interfacePrefix + shortSha1(workload);
  return (id, value) => {
    try {
      return podToEndpoint(id, recordOf(value, ""), interfaceName);
    } catch (error) {
      if (error instanceof FieldError) return invalid(error);
      throw error;
    }
  };
}

function podToEndpoint(
  { namespace, name }: ProcessorId,
  pod: JsonRecord,
  interfaceName: (workload: string) => string,
): Converted<PodEndpoint> {
  const spec = recordOf(pod.spec ?? empty, "spec");
  if (flagOf(spec.hostNetwork, "spec.hostNetwork")) return absent("it uses the host's network");
  const hostname = textOf(spec.nodeName, "spec.nodeName");
  if (hostname === "") return absent("it is on no node yet");
  requireNamePart(hostname, "spec.nodeName");
  requireNamePart(name, "metadata.name");
  const metadata = recordOf(pod.metadata ?? empty, "metadata");
  const annotations = textsOf(metadata.annotations, "metadata.annotations");
  const status = recordOf(pod.status ?? empty, "status");
  const networks = podNetworks(status, annotations);
  const isFinished = isPodFinished({ metadata, phase: textOf(status.phase, "status.phase"), annotations });
  const allowedSources = podAllowedSources(annotations);
  const nats = isFinished ? noNats : podNats(networks, annotations);
  if (isFinished) return absent("it has finished");
  if (networks.length === 0) return absent("it has no address yet");
  if (namespace === "") return invalid({ field: "metadata.namespace", rule: "must not be empty" });

  const account = textOf(spec.serviceAccountName, "spec.serviceAccountName");
  const profile = `kns.${namespace}`;
  const warnings: Warning[] = [];
  const endpoint: Endpoint = {
    name: interfaceName(`${namespace}.${name}`),
    mac: undefined,
    profileIds: account === "" ? [profile] : [profile, `ksa.${namespace}.${account}`],
    ipv4Nets: netsOf(networks, 4),
    ipv6Nets: netsOf(networks, 6),
    ipv4Nats: nats.ipv4Nats,
    ipv6Nats: nats.ipv6Nats,
    labels: writeEndpointLabels(textsOf(metadata.labels, "metadata.labels"), ownLabels(namespace, account)),
    ipv4Gateway: undefined,
    ipv6Gateway: undefined,
    ports: podPorts(spec),
    generateName: textOf(metadata.generateName, "metadata.generateName"),
    allowedSources,
    annotations: writeAnnotations(annotations),
    qosControls: asksForQos(annotations) ? podQosControls(annotations, warnings) : undefined,
  };
  return { is: "value", value: { path: podEndpointPath(hostname, namespace, name), endpoint }, warnings };
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw new FieldError(field, "must be a string");
}

function flagOf(value: unknown, field: string): boolean {
  if (typeof value === "boolean") return value;
  if (value === undefined || value === null) return false;
  throw new FieldError(field, "must be true or false");
}

function listOf(value: unknown, field: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw new FieldError(field, "must be a list");
}

function textsOf(value: unknown, field: string): StringMap {
  if (value === undefined || value === null) return none;
  const texts = recordOf(value, field);
  for (const name in texts) {
    if (typeof texts[name] !== "string") throw new FieldError(`${field}[${JSON.stringify(name)}]`, "must be a string");
  }
  return texts as StringMap; // every member was just seen to be a text
}

/** The name of a stored endpoint joins its parts with dashes, so that none may begin or end with one. */
function requireNamePart(part: string, field: string): void {
  if (part === "" || part.startsWith("-") || part.endsWith("-")) {
    throw new FieldError(field, "must not be empty, nor begin or end with a dash");
  }
}

function ownLabels(namespace: string, account: string): ReadonlyMap<string, string> {
  const own = new Map([
    ["projectcalico.org/namespace", namespace],
    ["projectcalico.org/orchestrator", "k8s"],
  ]);
  if (account !== "") own.set("projectcalico.org/serviceaccount", account);
  return own;
}

function netsOf(networks: readonly Network[], version: 4 | 6): readonly string[] {
  const nets: string[] = [];
  for (const network of networks) if (network.version === version) nets.push(network.text);
  return nets;
}

function writeAnnotations(annotations: StringMap): string | undefined {
  const status = annotations[networkStatus];
  return status === undefined ? undefined : `{"${networkStatus}":${writeGoString(status)}}`;
}

/** Ports by name, of containers and then of init containers: only named ports can be matched by a policy. */
function podPorts(spec: JsonRecord): readonly EndpointPort[] {
  const ports: EndpointPort[] = [];
  addPorts(ports, listOf(spec.containers, "spec.containers"), "spec.containers[]");
  if (spec.initContainers !== undefined) {
    addPorts(ports, listOf(spec.initContainers, "spec.initContainers"), "spec.initContainers[]");
  }
  return ports;
}

function addPorts(ports: EndpointPort[], containers: readonly unknown[], field: string): void {
  for (const container of containers) {
    const given = recordOf(container ?? empty, field).ports;
    if (given === undefined) continue;
    for (const item of listOf(given, `${field}.ports`)) {
      const port = readPort(recordOf(item ?? empty, `${field}.ports[]`), `${field}.ports[]`);
      if (port !== undefined) ports.push(port);
    }
  }
}

/** Where in a pod that was converted the port at this place of its endpoint's comes from. */
export function podPortField(pod: unknown, at: number, member: keyof EndpointPort): string {
  const spec = recordOf(recordOf(pod, "").spec ?? empty, "spec");
  let left = at;
  for (const name of ["containers", "initContainers"]) {
    for (const [index, container] of listOf(spec[name], name).entries()) {
      for (const [place, item] of listOf(recordOf(container ?? empty, name).ports, name).entries()) {
        if (readPort(recordOf(item ?? empty, name), name) === undefined) continue;
        if (left === 0) return `spec.${name}[${index}].ports[${place}].${member === "port" ? "containerPort" : member}`;
        left -= 1;
      }
    }
  }
  return "spec.containers";
}

function readPort({ containerPort = 0, name, protocol }: JsonRecord, field: string): EndpointPort | undefined {
  if (containerPort !== null && (typeof containerPort !== "number" || (containerPort | 0) !== containerPort)) {
    throw new FieldError(`${field}.containerPort`, "must be a 32-bit whole number");
  }
  const named = textOf(name, `${field}.name`);
  const given = textOf(protocol, `${field}.protocol`);
  if (containerPort === null || containerPort === 0 || named === "") return undefined;
  const port = containerPort & 0xffff;
  if (given === "" || given === "TCP") return { name: named, protocol: "tcp", port };
  if (given === "UDP") return { name: named, protocol: "udp", port };
  return given === "SCTP" ? { name: named, protocol: "sctp", port } : undefined;
}

// Workload endpoints as etcd stores them, to those that clients read. The parts of the key are in the stored name:
// NODE-ORCHESTRATOR-WORKLOAD-ENDPOINT, dashes inside a part doubled.
import {
  canonicalIp,
  canonicalMac,
  canonicalNetwork,
  ipToText,
  type Network,
  parseCidrOrIp,
} from "../../../base/lib/index.ts";
import { qosControls, type WorkloadEndpointSpec, workloadEndpointSpec } from "../../kinds/index.ts";
import { FieldError, goMap, goString, type Key } from "../../model/index.ts";
import { type Resource, readResource } from "../object/resource.ts";
import { createKeyedProcessor } from "../processor/keyed-processor.ts";
import { absent, type Converted, invalid, type Processor, type ProcessorId } from "../processor/processor.ts";
import { type Endpoint, endpointProblem, type Nat, writeEndpoint, writeEndpointLabels } from "./endpoint.ts";

export function createWorkloadEndpointProcessor(): Processor {
  return createKeyedProcessor({
    kind: "WorkloadEndpoint",
    key: endpointKey,
    keyProblem: { field: "metadata.name", rule: "must be NODE-ORCHESTRATOR-WORKLOAD-ENDPOINT, in a namespace" },
    convert: (value) => convert(readResource("WorkloadEndpoint", workloadEndpointSpec, value)),
  });
}

function endpointKey({ namespace, name }: ProcessorId): Key | undefined {
  const [hostname, orchestratorId, workload, endpointId, ...more] = splitEndpointName(name);
  if (namespace === "" || workload === undefined || more.length > 0) return undefined;
  if (hostname === undefined || orchestratorId === undefined || endpointId === undefined) return undefined;
  return { is: "WorkloadEndpoint", hostname, orchestratorId, workloadId: `${namespace}/${workload}`, endpointId };
}

/** A pair of dashes is a dash of the name; any other dash, but for the very first character, ends a part. */
export function splitEndpointName(name: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 1; at < name.length; at++) {
    if (name[at] !== "-") continue;
    if (name[at + 1] === "-") at += 1;
    else {
      parts.push(name.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(name.slice(start));
  return parts.map((part) => part.replaceAll("--", "-"));
}

function convert({ metadata, spec }: Resource<WorkloadEndpointSpec>): Converted<string> {
  const networks = (spec.ipNetworks ?? []).map((text, at) => readNetwork(text, `spec.ipNetworks[${at}]`));
  if (networks.length === 0) return absent("it has no address");
  const account = spec.serviceAccountName ?? "";
  const annotations = metadata.annotations ?? {};
  const endpoint: Endpoint = {
    name: spec.interfaceName ?? "",
    mac: readOptional(spec.mac, canonicalMac, { field: "spec.mac", rule: "must be a MAC address" }),
    profileIds: spec.profiles,
    ipv4Nets: networks.filter(({ version }) => version === 4).map(({ text }) => text),
    ipv6Nets: networks.filter(({ version }) => version === 6).map(({ text }) => text),
    ...readNats(spec),
    labels: writeEndpointLabels(
      metadata.labels ?? {},
      new Map(account === "" ? [] : [["projectcalico.org/serviceaccount", account]]),
    ),
    ipv4Gateway: readOptional(spec.ipv4Gateway, addressPart, { field: "spec.ipv4Gateway", rule: "must be an address" }),
    ipv6Gateway: readOptional(spec.ipv6Gateway, addressPart, { field: "spec.ipv6Gateway", rule: "must be an address" }),
    ports: (spec.ports ?? []).flatMap(({ name = "", protocol = 0, port = 0 }) => {
      const lower = typeof protocol === "string" ? protocol.toLowerCase() : protocol;
      return name === "" ? [] : [{ name, protocol: lower, port }];
    }),
    generateName: metadata.generateName ?? "",
    allowedSources: (spec.allowSpoofedSourcePrefixes ?? []).map(
      (text, at) => readNetwork(text, `spec.allowSpoofedSourcePrefixes[${at}]`).text,
    ),
    annotations: Object.keys(annotations).length === 0 ? undefined : goMap(goString).write(annotations),
    qosControls: spec.qosControls === undefined ? undefined : qosControls.go.write(spec.qosControls),
  };
  const problem = endpointProblem(endpoint, (at, member) => {
    const named = (spec.ports ?? []).flatMap(({ name = "" }, index) => (name === "" ? [] : [index]));
    return `spec.ports[${named[at]}].${member}`;
  });
  if (problem !== undefined) return invalid(problem);
  return { is: "value", value: writeEndpoint(endpoint) };
}

function readNetwork(text: string, field: string): Network {
  const network = canonicalNetwork(text);
  if (network === undefined) throw new FieldError(field, "must be an IP address or network");
  return network;
}

function readOptional(
  text: string | undefined,
  read: (text: string) => string | undefined,
  says: { field: string; rule: string },
): string | undefined {
  if (text === undefined || text === "") return undefined;
  const value = read(text);
  if (value === undefined) throw new FieldError(says.field, says.rule);
  return value;
}

/** The address of a CIDR, or a bare one. */
function addressPart(text: string): string | undefined {
  const cidr = parseCidrOrIp(text);
  return cidr === undefined ? undefined : ipToText(cidr.ip);
}

/** Pairs of which either is no address are dropped; the internal one decides the family. */
function readNats(spec: WorkloadEndpointSpec): { ipv4Nats: readonly Nat[]; ipv6Nats: readonly Nat[] } {
  const ipv4Nats: Nat[] = [];
  const ipv6Nats: Nat[] = [];
  for (const { internalIP = "", externalIP = "" } of spec.ipNATs ?? []) {
    const internalIp = canonicalIp(internalIP);
    const externalIp = canonicalIp(externalIP);
    if (internalIp === undefined || externalIp === undefined) continue;
    (internalIp.includes(":") ? ipv6Nats : ipv4Nats).push({ internalIp, externalIp });
  }
  return { ipv4Nats, ipv6Nats };
}

// HostEndpoint to the endpoint that clients read, under its node.
import {
  always,
  FieldError,
  goList,
  goMap,
  goNumber,
  goString,
  goStruct,
  type HostEndpointSpec,
  hostEndpointSpec,
  ipToText,
  keyToPath,
  type NumberOrText,
  type ObjectMeta,
  omitEmpty,
  parseIp,
  protocol,
  type StringMap,
} from "../model/index.ts";
import { ownText } from "./annotations.ts";
import { createConflictProcessor } from "./conflict-processor.ts";
import { type Converted, invalid, type Warning } from "./converted.ts";
import { parseDscp } from "./dscp.ts";
import type { Processor } from "./processor.ts";

type V1Port = { readonly name: string; readonly protocol: NumberOrText; readonly port: number | bigint };
type V1HostEndpoint = {
  readonly name: string;
  readonly expected_ipv4_addrs: readonly string[];
  readonly expected_ipv6_addrs: readonly string[];
  readonly labels: StringMap | undefined;
  readonly profile_ids: readonly string[];
  readonly ports: readonly V1Port[];
  readonly qosControls: { readonly dscp: NumberOrText } | undefined;
};

const texts = omitEmpty(goList(goString));
const v1HostEndpoint = goStruct<V1HostEndpoint>({
  name: omitEmpty(goString),
  expected_ipv4_addrs: texts,
  expected_ipv6_addrs: texts,
  labels: always(goMap(goString)),
  profile_ids: texts,
  ports: omitEmpty(
    goList(goStruct<V1Port>({ name: always(goString), protocol: always(protocol.go), port: always(goNumber) })),
  ),
  qosControls: omitEmpty(goStruct<{ dscp: NumberOrText }>({ dscp: always(protocol.go) })),
});

export function createHostEndpointProcessor(): Processor {
  return createConflictProcessor({
    kind: "HostEndpoint",
    schema: hostEndpointSpec,
    owner: "first",
    convert: ({ metadata, spec }, id) => {
      const hostname = spec.node ?? "";
      const path = keyToPath({ is: "HostEndpoint", hostname, endpointId: metadata.name ?? id.name });
      if (path === undefined) throw new FieldError("spec.node", "must name the node");
      return { path, converted: convertHostEndpoint(metadata, spec) };
    },
  });
}

function convertHostEndpoint(metadata: ObjectMeta, spec: HostEndpointSpec): Converted<string> {
  const warnings: Warning[] = [];
  const { ipv4, ipv6 } = splitAddresses(spec.expectedIPs ?? [], warnings);
  const ports = (spec.ports ?? []).map(({ name = "", protocol: by = 0, port = 0 }) => ({
    name,
    protocol: typeof by === "string" ? by.toLowerCase() : by,
    port,
  }));
  const endpoint: V1HostEndpoint = {
    name: spec.interfaceName ?? "",
    expected_ipv4_addrs: ipv4,
    expected_ipv6_addrs: ipv6,
    labels: metadata.labels,
    profile_ids: spec.profiles ?? [],
    ports,
    qosControls: readDscp(metadata.annotations ?? {}, warnings),
  };
  const problem = hostEndpointProblem(endpoint);
  if (problem !== undefined) return invalid(problem.rule, problem.field);
  return { is: "value", value: v1HostEndpoint.write(endpoint), warnings };
}

function splitAddresses(addresses: readonly string[], warnings: Warning[]): { ipv4: string[]; ipv6: string[] } {
  const ipv4: string[] = [];
  const ipv6: string[] = [];
  for (const [at, text] of addresses.entries()) {
    const ip = parseIp(text);
    if (ip === undefined)
      warnings.push({ field: `spec.expectedIPs[${at}]`, rule: "must be an IP address", effect: "dropped" });
    else (ip.version === 4 ? ipv4 : ipv6).push(ipToText(ip));
  }
  return { ipv4, ipv6 };
}

const dscpAnnotation = "qos.projectcalico.org/dscp";

function readDscp(annotations: StringMap, warnings: Warning[]): { dscp: NumberOrText } | undefined {
  const text = ownText(annotations, dscpAnnotation);
  const dscp = text === undefined ? undefined : parseDscp(text);
  if (text !== undefined && dscp === undefined) {
    const field = `metadata.annotations["${dscpAnnotation}"]`;
    warnings.push({ field, rule: "must be a DSCP name or a number from 0 to 63", effect: "dropped" });
  }
  return dscp === undefined ? undefined : { dscp };
}

const name128 = /^[a-zA-Z0-9_.-]{1,128}$/;
const interfaceName = /^[a-zA-Z0-9_.-]{1,15}$/;

function hostEndpointProblem(endpoint: V1HostEndpoint): { field: string; rule: string } | undefined {
  if (endpoint.name !== "" && endpoint.name !== "*" && !interfaceName.test(endpoint.name)) {
    return { field: "spec.interfaceName", rule: "must be * or an interface name of up to 15 characters" };
  }
  for (const [at, profile] of endpoint.profile_ids.entries()) {
    if (!name128.test(profile)) return { field: `spec.profiles[${at}]`, rule: "must be a profile's name" };
  }
  for (const [at, { name, protocol: by, port }] of endpoint.ports.entries()) {
    const field = `spec.ports[${at}]`;
    if (!name128.test(name)) return { field: `${field}.name`, rule: "must be 1 to 128 letters, digits, _ . or -" };
    if (port === 0) return { field: `${field}.port`, rule: "must be from 1 to 65535" };
    if (by !== "tcp" && by !== "udp" && by !== "sctp") {
      return { field: `${field}.protocol`, rule: "must be TCP, UDP or SCTP, by name" };
    }
  }
  return undefined;
}

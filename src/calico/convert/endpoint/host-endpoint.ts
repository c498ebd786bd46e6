// HostEndpoint to the endpoint that clients read, under its node.
import { ipToText, parseIp } from "../../../base/lib/index.ts";
import { type HostEndpointSpec, hostEndpointSpec, isInterfaceName } from "../../kinds/index.ts";
import {
  always,
  dscp as dscpSchema,
  FieldError,
  goList,
  goMap,
  goNumber,
  goString,
  goStruct,
  isPlainName,
  keyToPath,
  type NumberOrText,
  type ObjectMeta,
  omitEmpty,
  protocol,
  type StringMap,
} from "../../model/index.ts";
import { createConflictProcessor } from "../processor/conflict-processor.ts";
import { type Converted, type FieldProblem, invalid, type Processor, type Warning } from "../processor/processor.ts";
import { readDscp } from "./dscp.ts";
import { type EndpointPort, portsProblem } from "./endpoint.ts";

type V1HostEndpoint = {
  readonly name: string;
  readonly expected_ipv4_addrs: readonly string[];
  readonly expected_ipv6_addrs: readonly string[];
  readonly labels: StringMap | undefined;
  readonly profile_ids: readonly string[];
  readonly ports: readonly EndpointPort[];
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
    goList(goStruct<EndpointPort>({ name: always(goString), protocol: always(protocol.go), port: always(goNumber) })),
  ),
  qosControls: omitEmpty(goStruct<{ dscp: NumberOrText }>({ dscp: always(dscpSchema.go) })),
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
  const dscp = readDscp(metadata.annotations ?? {}, warnings);
  const endpoint: V1HostEndpoint = {
    name: spec.interfaceName ?? "",
    expected_ipv4_addrs: ipv4,
    expected_ipv6_addrs: ipv6,
    labels: metadata.labels,
    profile_ids: spec.profiles ?? [],
    ports,
    qosControls: dscp === undefined ? undefined : { dscp },
  };
  const problem = hostEndpointProblem(endpoint);
  if (problem !== undefined) return invalid(problem);
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

function hostEndpointProblem(endpoint: V1HostEndpoint): FieldProblem | undefined {
  if (endpoint.name !== "" && endpoint.name !== "*" && !isInterfaceName(endpoint.name)) {
    return { field: "spec.interfaceName", rule: "must be * or an interface name of up to 15 characters" };
  }
  for (const [at, profile] of endpoint.profile_ids.entries()) {
    if (!isPlainName(profile)) return { field: `spec.profiles[${at}]`, rule: "must be a profile's name" };
  }
  return portsProblem(endpoint.ports, (at, member) => `spec.ports[${at}].${member}`);
}

// What is demanded of a FelixConfiguration's fields. Named in the order of the type, because problems are said in it.
import { parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
import { type NumberOrText, parseDuration } from "../../model/index.ts";
import { type Check, each, fields, filled, given, type Problem, printGo } from "../checks/check.ts";
import {
  atLeast,
  bpfLogFilters,
  cidrs,
  interfaceFilter,
  interfaceFilters,
  interfaceName,
  keyValueList,
  oneOf,
  priority,
  prometheusHost,
  regexp,
  within,
} from "../checks/tags.ts";
import { port } from "../policy/rule-checks.ts";
import { type FelixConfigurationSpec, felixFields } from "./felix-fields.ts";

type Spec = FelixConfigurationSpec;
type HealthTimeout = NonNullable<Spec["healthTimeoutOverrides"]>[number];

const members = (): { readonly [N in keyof Spec]?: Check<NonNullable<Spec[N]>> } => ({
  featureDetectOverride: filled(keyValueList),
  featureGates: filled(keyValueList),
  logDebugFilenameRegex: filled(regexp),
  nftablesFlowTableDataIfacePattern: filled(regexp),
  bpfDataIfacePattern: filled(regexp),
  bpfL3IfacePattern: filled(regexp),
  bpfDisableGROForIfaces: filled(regexp),
  mtuIfacePattern: filled(regexp),
  prometheusMetricsHost: filled(prometheusHost),
  debugPort: given(...within(0, 65535)),
  bpfKubeProxyHealthzPort: given(...within(0, 65535)),
  iptablesNATOutgoingInterfaceFilter: filled(interfaceFilter),
  bpfForceTrackPacketsFromIfaces: filled(interfaceFilters),
  bpfLogFilters,
  bpfDSROptoutCIDRs: filled(cidrs),
  bpfExcludeCIDRsFromNAT: filled(cidrs),
  bpfExtToServiceConnmark: given(...within(0, 4294967295)),
  bpfMapSizeConntrackCleanupQueue: given(...atLeast(1)),
  ipv4NormalRoutePriority: given(...priority),
  ipv4ElevatedRoutePriority: given(...priority),
  ipv6NormalRoutePriority: given(...priority),
  ipv6ElevatedRoutePriority: given(...priority),
  wireguardListeningPort: given(...within(0, 65535, { least: true })),
  wireguardListeningPortV6: given(...within(0, 65535, { least: true })),
  wireguardRoutingRulePriority: given(...within(0, 32766, { least: true, most: true })),
  wireguardInterfaceName: filled(interfaceName),
  wireguardInterfaceNameV6: filled(interfaceName),
  goGCThreshold: given(...atLeast(-1)),
  goMemoryLimitMB: given(...atLeast(-1)),
  goMaxProcs: given(...atLeast(-1)),
  bpfMaglevMaxEndpointsPerService: given(...within(0, 3000, { least: true })),
  bpfMaglevMaxServices: given(...within(0, 3000, { least: true })),
  // Optional texts: "" is a value, and not one of these.
  prometheusMetricsClientAuth: given(
    oneOf("RequireAndVerifyClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven", "NoClientCert"),
  ),
  natOutgoingExclusions: given(oneOf("IPPoolsOnly", "IPPoolsAndHostIPs")),
  bpfOverlayHostSourceIP: given(oneOf("TunnelAddress", "HostAddress")),
  bpfJITHardening: given(oneOf("Auto", "Strict")),
  bpfConntrackMode: given(oneOf("Auto", "Userspace", "BPFProgram")),
  bpfConnectTimeLoadBalancing: given(oneOf("TCP", "Enabled", "Disabled")),
  bpfHostNetworkedNATWithoutCTLB: given(oneOf("Enabled", "Disabled")),
  bpfAttachType: given(oneOf("TC", "TCX", "Netkit")),
  awsSrcDstCheck: given(oneOf("DoNothing", "Enable", "Disable")),
  localSubnetL2Reachability: given(oneOf("Disabled", "PodsAndLoadBalancers")),
  windowsManageFirewallRules: given(oneOf("Enabled", "Disabled")),
  bpfConntrackLogLevel: filled(oneOf("Off", "Debug")),
  serviceLoopPrevention: filled(oneOf("Drop", "Reject", "Disabled")),
  workloadSourceSpoofing: filled(oneOf("Disabled", "Any")),
  natPortRange: port,
  bpfPSNATPorts: port,
  kubeNodePortRanges: each(port),
  healthTimeoutOverrides: each(fields<HealthTimeout>({}, healthTimeoutProblems)),
});

export function felixChecks(): Check<Spec> {
  const place = new Map(Object.keys(felixFields()).map((field, index) => [field, index]));
  const ordered = Object.entries(members()).sort(([a], [b]) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  return fields<Spec>(Object.fromEntries(ordered), felixProblems);
}

function* healthTimeoutProblems(
  { name = "", timeout = "0s" }: HealthTimeout,
  { path }: { readonly path: string },
): Generator<Problem> {
  const value = `{${name} {${timeout}}}`;
  if (!/^[a-zA-Z0-9_ -]+$/.test(name)) {
    const said = { name: "HealthTimeoutOverride.Name", value, reason: "name should match regex ^[a-zA-Z0-9_ -]+$" };
    yield { field: `${path}.name`, rule: "must be letters, digits, _ - or blanks", ...said };
  }
  if ((parseDuration(timeout) ?? 0n) < 0n) {
    const said = { name: "HealthTimeoutOverride.Timeout", value, reason: "Timeout should not be negative" };
    yield { field: `${path}.timeout`, rule: "must not be negative", ...said };
  }
}

function* felixProblems(spec: Spec): Generator<Problem> {
  yield* nodePortProblems(spec.kubeNodePortRanges ?? []);
  yield* externalNodesProblems(spec.externalNodesList ?? []);
  const region = spec.openstackRegion ?? "";
  const said = { field: "spec.openstackRegion", rule: "must be a DNS label of up to 46 characters" };
  const called = { name: "OpenstackRegion", value: region };
  if (region.length > 46) yield { ...said, ...called, reason: "is too long" };
  else if (region !== "" && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(region)) {
    yield { ...said, ...called, reason: "must be a valid DNS label" };
  }
  yield* addressProblems(spec);
  yield* routeTableProblems(spec);
}

function* nodePortProblems(ranges: readonly NumberOrText[]): Generator<Problem> {
  const said = { field: "spec.kubeNodePortRanges", rule: "must be up to 7 port numbers or ranges" };
  const called = { name: "KubeNodePortRanges", value: printGo(ranges) };
  if (ranges.length > 7) yield { ...said, ...called, reason: "node port ranges list is too long (max 7)" };
  const isNamed = (range: NumberOrText) => typeof range === "string" && !range.includes(":");
  if (ranges.some(isNamed)) yield { ...said, ...called, reason: "node port ranges should not contain named ports" };
}

function* externalNodesProblems(nodes: readonly string[]): Generator<Problem> {
  const said = { field: "spec.externalNodesList", rule: "must be IPv4 CIDRs", name: "ExternalNodesCIDRList" };
  for (const value of nodes) {
    const version = parseCidrOrIp(value)?.ip.version;
    // The empty text is a network to the original's parser, but none of IPv4.
    if (version === 6 || value === "") yield { ...said, value, reason: "has invalid IPv6 CIDR" };
    else if (version === undefined) yield { ...said, value, reason: "has invalid CIDR(s)" };
  }
}

const addresses = [
  ["natOutgoingAddress", "NATOutgoingAddress"],
  ["deviceRouteSourceAddress", "DeviceRouteSourceAddress"],
  ["deviceRouteSourceAddressIPv6", "DeviceRouteSourceAddressIPv6"],
] as const;

function* addressProblems(spec: Spec): Generator<Problem> {
  for (const [field, name] of addresses) {
    const value = spec[field] ?? "";
    if (value === "" || parseIp(value) !== undefined) continue;
    yield { field: `spec.${field}`, rule: "must be an IP address", name, value, reason: "is not a valid IP address" };
  }
}

function* routeTableProblems({ routeTableRange, routeTableRanges = [] }: Spec): Generator<Problem> {
  if (routeTableRange !== undefined) {
    const { min = 0, max = 0 } = routeTableRange;
    if (min < 1 || max < min || max > 250) {
      const reason = "must be a range of route table indices within 1..250";
      const said = { name: "RouteTableRange", value: printGo({ min, max }), reason };
      yield { field: "spec.routeTableRange", rule: "must be within 1 to 250", ...said };
    }
  }
  let tables = 0;
  for (const [at, { min = 0, max = 0 }] of routeTableRanges.entries()) {
    const field = `spec.routeTableRanges[${at}]`;
    const said = {
      field,
      rule: "must be a range from 1 upwards",
      name: "RouteTableRange",
      value: printGo({ min, max }),
    };
    if (min > max) yield { ...said, reason: "min value cannot be greater than max value" };
    if (min < 1) yield { ...said, reason: "cannot target indices < 1" };
    if (max > 4294967295) yield { ...said, reason: "max index too high" };
    tables += Number(max) - Number(min) + 1;
  }
  if (tables <= 65535) return;
  const value = `&${printGo(routeTableRanges)}`;
  const said = { name: "RouteTableRanges", value, reason: "targets too many tables" };
  yield { field: "spec.routeTableRanges", rule: "must be no more than 65535 tables in all", ...said };
}

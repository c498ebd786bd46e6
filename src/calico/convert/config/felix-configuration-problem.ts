// What the validation filter rejects in a FelixConfiguration that is passed on whole. Those that become settings are not
// validated at all.
import { parseCidrOrIp } from "../../../base/lib/index.ts";
import type { FelixConfigurationSpec } from "../../kinds/index.ts";
import { type NumberOrText, parseDuration } from "../../model/index.ts";
import { type Check, filled, firstProblem, given, isInterfaceName, isIp } from "../object/checks.ts";
import { isPortName, startsAtOne } from "../policy/rule-checks.ts";
import type { FieldProblem } from "../processor/processor.ts";
import { isGoRegexp } from "./go-regexp.ts";

export function felixConfigurationProblem(spec: FelixConfigurationSpec): FieldProblem | undefined {
  return firstProblem(checks(spec));
}

type Field = keyof FelixConfigurationSpec;

const keyValueLists: Field[] = ["featureDetectOverride", "featureGates"];
const regexps: Field[] = [
  "logDebugFilenameRegex",
  "nftablesFlowTableDataIfacePattern",
  "bpfDataIfacePattern",
  "bpfL3IfacePattern",
  "bpfDisableGROForIfaces",
  "mtuIfacePattern",
];
const interfaceNames: Field[] = ["wireguardInterfaceName", "wireguardInterfaceNameV6"];
const addresses: Field[] = ["natOutgoingAddress", "deviceRouteSourceAddress", "deviceRouteSourceAddressIPv6"];

/** Enums that are checked even when given as "", because they are optional texts. */
const givenEnums: [Field, string[]][] = [
  [
    "prometheusMetricsClientAuth",
    ["RequireAndVerifyClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven", "NoClientCert"],
  ],
  ["natOutgoingExclusions", ["IPPoolsOnly", "IPPoolsAndHostIPs"]],
  ["bpfOverlayHostSourceIP", ["TunnelAddress", "HostAddress"]],
  ["bpfJITHardening", ["Auto", "Strict"]],
  ["bpfConntrackMode", ["Auto", "Userspace", "BPFProgram"]],
  ["bpfConnectTimeLoadBalancing", ["TCP", "Enabled", "Disabled"]],
  ["bpfHostNetworkedNATWithoutCTLB", ["Enabled", "Disabled"]],
  ["bpfAttachType", ["TC", "TCX", "Netkit"]],
  ["awsSrcDstCheck", ["DoNothing", "Enable", "Disable"]],
  ["localSubnetL2Reachability", ["Disabled", "PodsAndLoadBalancers"]],
  ["windowsManageFirewallRules", ["Enabled", "Disabled"]],
];
const filledEnums: [Field, string[]][] = [
  ["bpfConntrackLogLevel", ["Off", "Debug"]],
  ["serviceLoopPrevention", ["Drop", "Reject", "Disabled"]],
  ["workloadSourceSpoofing", ["Disabled", "Any"]],
];

const ranges: [Field, number, number][] = [
  ["debugPort", 0, 65535],
  ["bpfExtToServiceConnmark", 0, 4294967295],
  ["bpfKubeProxyHealthzPort", 0, 65535],
  ["bpfMapSizeConntrackCleanupQueue", 1, Number.POSITIVE_INFINITY],
  ["ipv4NormalRoutePriority", 1, 2147483646],
  ["ipv4ElevatedRoutePriority", 1, 2147483646],
  ["ipv6NormalRoutePriority", 1, 2147483646],
  ["ipv6ElevatedRoutePriority", 1, 2147483646],
  ["wireguardListeningPort", 1, 65535],
  ["wireguardListeningPortV6", 1, 65535],
  ["wireguardRoutingRulePriority", 1, 32765],
  ["goGCThreshold", -1, Number.POSITIVE_INFINITY],
  ["goMemoryLimitMB", -1, Number.POSITIVE_INFINITY],
  ["goMaxProcs", -1, Number.POSITIVE_INFINITY],
  ["bpfMaglevMaxEndpointsPerService", 1, 3000],
  ["bpfMaglevMaxServices", 1, 3000],
];

const interfaceFilter = /^[a-zA-Z0-9:._+-]{1,15}$/;

function* checks(spec: FelixConfigurationSpec): Generator<Check> {
  const textOf = (field: Field) => (typeof spec[field] === "string" ? spec[field] : undefined);
  for (const field of keyValueLists) {
    yield [`spec.${field}`, filled(textOf(field), isKeyValueList), "must be a list of KEY=VALUE"];
  }
  for (const field of regexps) {
    yield [`spec.${field}`, filled(textOf(field), isGoRegexp), "must be a regular expression"];
  }
  for (const field of interfaceNames) {
    const isGood = filled(textOf(field), (text) => text === "*" || isInterfaceName(text));
    yield [`spec.${field}`, isGood, "must be an interface name of up to 15 characters"];
  }
  for (const field of addresses) {
    yield [`spec.${field}`, filled(textOf(field), (text) => isIp(text)), "must be an IP address"];
  }
  for (const [field, words] of givenEnums) {
    yield [`spec.${field}`, given(textOf(field), (text) => words.includes(text)), `must be one of ${words.join(", ")}`];
  }
  for (const [field, words] of filledEnums) {
    yield [
      `spec.${field}`,
      filled(textOf(field), (text) => words.includes(text)),
      `must be one of ${words.join(", ")}`,
    ];
  }
  for (const [field, min, max] of ranges) {
    const value = spec[field];
    const isGood = typeof value !== "number" || (value >= min && value <= max);
    yield [`spec.${field}`, isGood, Number.isFinite(max) ? `must be from ${min} to ${max}` : `must be ${min} or more`];
  }
  yield* listChecks(spec);
  yield* routeTableChecks(spec);
}

function* listChecks(spec: FelixConfigurationSpec): Generator<Check> {
  const isHost = filled(spec.prometheusMetricsHost, (text) => /^[a-zA-Z0-9:._+-]{1,64}$/.test(text));
  yield ["spec.prometheusMetricsHost", isHost, "must be an address or host name of up to 64 characters"];
  const isFilter = filled(spec.iptablesNATOutgoingInterfaceFilter, (text) => interfaceFilter.test(text));
  yield ["spec.iptablesNATOutgoingInterfaceFilter", isFilter, "must be an interface name, which may end in +"];
  const logged = Object.keys(spec.bpfLogFilters ?? {});
  yield ["spec.bpfLogFilters", logged.every(isInterfaceName), "must have interface names for keys"];
  for (const field of ["bpfDSROptoutCIDRs", "bpfExcludeCIDRsFromNAT"] as const) {
    // The original's parser takes the empty text for a network.
    const areNetworks = (spec[field] ?? []).every((text) => text === "" || parseCidrOrIp(text) !== undefined);
    yield [`spec.${field}`, areNetworks, "must be CIDRs or IP addresses"];
  }
  const tracked = (spec.bpfForceTrackPacketsFromIfaces ?? []).every((name) => interfaceFilter.test(name));
  yield ["spec.bpfForceTrackPacketsFromIfaces", tracked, "must be interface names, which may end in +"];
  const nodePorts = spec.kubeNodePortRanges ?? [];
  const areNumbers = nodePorts.every((port) => typeof port === "number" || port.includes(":"));
  yield ["spec.kubeNodePortRanges", nodePorts.length <= 7 && areNumbers, "must be up to 7 port numbers or ranges"];
  const areFromOne = nodePorts.every(isPort);
  yield ["spec.kubeNodePortRanges", areFromOne, "must not include port 0"];
  for (const field of ["natPortRange", "bpfPSNATPorts"] as const) {
    yield [`spec.${field}`, given(spec[field], isPort), "must be a port, a range from 1 on, or a port's name"];
  }
  const areIpv4 = (spec.externalNodesList ?? []).every((text) => parseCidrOrIp(text)?.ip.version === 4);
  yield ["spec.externalNodesList", areIpv4, "must be IPv4 CIDRs"];
  const isRegion = filled(
    spec.openstackRegion,
    (text) => text.length <= 46 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text),
  );
  yield ["spec.openstackRegion", isRegion, "must be a DNS label of up to 46 characters"];
  for (const [at, { name = "", timeout = "0s" }] of (spec.healthTimeoutOverrides ?? []).entries()) {
    const field = `spec.healthTimeoutOverrides[${at}]`;
    yield [`${field}.name`, /^[a-zA-Z0-9_ -]+$/.test(name), "must be letters, digits, _ - or blanks"];
    yield [`${field}.timeout`, (parseDuration(timeout) ?? 0n) >= 0n, "must not be negative"];
  }
}

function* routeTableChecks({ routeTableRange, routeTableRanges = [] }: FelixConfigurationSpec): Generator<Check> {
  const isTableRange = given(routeTableRange, ({ min = 0, max = 0 }) => min >= 1 && max >= min && max <= 250);
  yield ["spec.routeTableRange", isTableRange, "must be within 1 to 250"];
  let tables = 0;
  for (const [at, range] of routeTableRanges.entries()) {
    const { min: first = 0, max: last = 0 } = range;
    const isRange = first >= 1 && first <= last && last <= 4294967295;
    yield [`spec.routeTableRanges[${at}]`, isRange, "must be a range from 1 upwards"];
    tables += Number(last) - Number(first) + 1; // of 32 bits, as just seen
  }
  yield ["spec.routeTableRanges", tables <= 65535, "must be no more than 65535 tables in all"];
}

function isPort(port: NumberOrText): boolean {
  const isNumeric = typeof port === "number" || port.includes(":");
  return isNumeric ? startsAtOne(port) : isPortName(port);
}

function isKeyValueList(text: string): boolean {
  if (text.trim() === "") return true;
  return text.split(",").every((item) => item === "" || /^\s*(\w+)=(.*)$/.test(item));
}

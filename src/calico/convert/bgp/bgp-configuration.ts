// BGPConfiguration, passed through.
import { type BgpConfigurationSpec, bgpConfigurationSpec } from "../../kinds/index.ts";
import {
  type Check,
  filled,
  firstProblem,
  given,
  interfacePatternRule,
  isInterfacePattern,
  isIp,
  isPriority,
  isStrictNetwork,
  priorityRule,
} from "../object/checks.ts";
import { isDnsName } from "../object/name-rules.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpConfigurationProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPConfiguration",
    schema: bgpConfigurationSpec,
    problem: ({ spec }) => firstProblem(checks(spec)),
  });
}

function* checks(spec: BgpConfigurationSpec): Generator<Check> {
  for (const name of ["serviceLoadBalancerIPs", "serviceExternalIPs", "serviceClusterIPs"] as const) {
    for (const [at, { cidr }] of (spec[name] ?? []).entries()) {
      const isNetwork = filled(cidr, (text) => isStrictNetwork(text));
      yield [`spec.${name}[${at}].cidr`, isNetwork, "must be a network without host bits"];
    }
  }
  yield* communityChecks(spec);
  for (const [at, name] of (spec.ignoredInterfaces ?? []).entries()) {
    const isSome = name !== "*" && isInterfacePattern(name);
    yield [`spec.ignoredInterfaces[${at}]`, isSome, `${interfacePatternRule} but not be all of it`];
  }
  const { localWorkloadPeeringIPV4: ipv4, localWorkloadPeeringIPV6: ipv6 } = spec;
  yield ["spec.localWorkloadPeeringIPV4", filled(ipv4, (text) => isIp(text, 4)), "must be an IPv4 address"];
  yield ["spec.localWorkloadPeeringIPV6", filled(ipv6, (text) => isIp(text, 6)), "must be an IPv6 address"];
  yield ["spec.ipv4NormalRoutePriority", given(spec.ipv4NormalRoutePriority, isPriority), priorityRule];
  yield ["spec.ipv6NormalRoutePriority", given(spec.ipv6NormalRoutePriority, isPriority), priorityRule];
}

function* communityChecks(spec: BgpConfigurationSpec): Generator<Check> {
  const communities = spec.communities ?? [];
  for (const [at, { name = "", value = "" }] of communities.entries()) {
    yield [`spec.communities[${at}].name`, isDnsName(name), "must be a DNS name"];
    yield [`spec.communities[${at}].value`, isCommunity(value), "must be a:b (16 bits each) or a:b:c (32 bits each)"];
  }
  for (const [at, advertisement] of (spec.prefixAdvertisements ?? []).entries()) {
    const field = `spec.prefixAdvertisements[${at}]`;
    const { cidr = "", communities: used } = advertisement;
    yield [`${field}.cidr`, isStrictNetwork(cidr), "must be a network without host bits"];
    yield [`${field}.communities`, used !== undefined, "must be given"];
    for (const [index, community] of (used ?? []).entries()) {
      const isUsable = looksLikeCommunity(community)
        ? isCommunity(community)
        : communities.some(({ name }) => name === community);
      yield [`${field}.communities[${index}]`, isUsable, "must be a community's value or defined name"];
    }
  }
}

function looksLikeCommunity(text: string): boolean {
  return /^\d+(:\d+){1,2}$/.test(text);
}

function isCommunity(text: string): boolean {
  if (!looksLikeCommunity(text)) return false;
  const parts = text.split(":");
  const max = parts.length === 2 ? 65535 : 4294967295;
  return parts.every((part) => Number(part) <= max);
}

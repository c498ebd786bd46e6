// BGPConfiguration: how nodes speak BGP; passed through to clients.

import { parseCidrOrIp } from "../../../base/lib/index.ts";
import {
  asNumber,
  duration,
  flag,
  int64,
  integer,
  lazy,
  list,
  optional,
  type SchemaType,
  struct,
  text,
  uint16,
} from "../../model/index.ts";
import { always, each, fields, filled, given, type Problem } from "../checks/check.ts";
import {
  above,
  ignoredInterface,
  ipOf,
  name,
  net,
  priority as priorityTags,
  required,
  requiredList,
} from "../checks/tags.ts";
import { cell, nameCell } from "../columns.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { celRules, isFilled } from "../parts/cel.ts";
import { bgpPassword } from "./bgp-password.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const atomicMap = { "x-kubernetes-map-type": "atomic" };
const cidr = () => text({ format: "cidr" });
const block = () => list(struct({ cidr: cidr() }, atomicMap), atomic);
const priority = () => optional(integer(int64, { minimum: 1, maximum: 2147483646 }));
const needsMesh = (name: string) => ({
  rule: `!has(self.${name}) || !has(self.nodeToNodeMeshEnabled) || self.nodeToNodeMeshEnabled`,
  message: `${name} cannot be set when nodeToNodeMeshEnabled is false`,
  reason: "FieldValueForbidden" as const,
});

export const bgpConfigurationSpec = lazy(() =>
  struct(
    {
      logSeverityScreen: text({ default: "Info", pattern: "^(?i)(Trace|Debug|Info|Warning|Error|Fatal)?$" }),
      nodeToNodeMeshEnabled: optional(flag()),
      asNumber: optional(asNumber),
      serviceLoadBalancerIPs: block(),
      serviceExternalIPs: block(),
      serviceClusterIPs: block(),
      serviceLoadBalancerAggregation: optional(text({ enum: ["Enabled", "Disabled"], default: "Enabled" })),
      communities: list(
        struct(
          {
            name: text({ maxLength: 253 }),
            value: text({ maxLength: 40, pattern: "^(\\d+):(\\d+)$|^(\\d+):(\\d+):(\\d+)$" }),
          },
          atomicMap,
        ),
        { maxItems: 500, ...atomic },
      ),
      prefixAdvertisements: list(
        struct({ cidr: cidr(), communities: list(text(), { maxItems: 50, ...atomic }) }, atomicMap),
        { maxItems: 500, ...atomic },
      ),
      listenPort: integer(uint16, { minimum: 1, maximum: 65535 }),
      nodeMeshPassword: bgpPassword,
      nodeMeshMaxRestartTime: duration(),
      bindMode: optional(text({ enum: ["None", "NodeIP"] })),
      ignoredInterfaces: list(text(), { "x-kubernetes-list-type": "set" }),
      localWorkloadPeeringIPV4: text(),
      localWorkloadPeeringIPV6: text(),
      programClusterRoutes: optional(text({ enum: ["Enabled", "Disabled", "EnabledIPIPOnly", "EnabledNoEncapOnly"] })),
      ipv4NormalRoutePriority: priority(),
      ipv6NormalRoutePriority: priority(),
    },
    celRules(needsMesh("nodeMeshPassword"), needsMesh("nodeMeshMaxRestartTime"), {
      rule: `!${isFilled("communities")} || ${isFilled("prefixAdvertisements")}`,
      message: "communities are defined but not used in prefixAdvertisements",
    }),
  ),
);
export type BgpConfigurationSpec = SchemaType<typeof bgpConfigurationSpec>;

const looksLikeCommunity = (text: string) => /^\d+(:\d+){1,2}$/.test(text);

/** One for each part that is too large; undefined: it does not look like one. */
function communityReasons(text: string): readonly string[] | undefined {
  if (!looksLikeCommunity(text)) return undefined;
  const parts = text.split(":");
  const bits = parts.length === 2 ? 16 : 32;
  const tooLarge = parts.filter((part) => Number(part) >= 2 ** bits);
  return tooLarge.map(() => `invalid community value, expected ${bits} bit value`);
}

function* communityProblems({ communities = [], prefixAdvertisements = [] }: BgpConfigurationSpec): Generator<Problem> {
  const form = "must be a:b (16 bits each) or a:b:c (32 bits each)";
  for (const [at, { value = "" }] of communities.entries()) {
    for (const reason of communityReasons(value) ?? ["invalid community value or format used."]) {
      yield { field: `spec.communities[${at}].value`, rule: form, name: "Spec.Communities[].Value", value, reason };
    }
  }
  for (const [at, { cidr: range = "", communities: used = [] }] of prefixAdvertisements.entries()) {
    const field = `spec.prefixAdvertisements[${at}]`;
    if (range !== "" && parseCidrOrIp(range) === undefined) {
      const said = { name: "Spec.PrefixAdvertisement[].CIDR", value: range, reason: "invalid CIDR value." };
      yield { field: `${field}.cidr`, rule: "must be a network without host bits", ...said };
    }
    for (const [index, value] of used.entries()) {
      const isDefined = communities.some((community) => community.name === value);
      const undefinedName = isDefined ? [] : ["community used is invalid or not defined."];
      for (const reason of communityReasons(value) ?? undefinedName) {
        const rule = "must be a community's value or defined name";
        const called = "Spec.PrefixAdvertisement[].Communities[]";
        yield { field: `${field}.communities[${index}]`, rule, name: called, value, reason };
      }
    }
  }
}

type Block = NonNullable<BgpConfigurationSpec["serviceClusterIPs"]>[number];

const checks = () => {
  const blocks = each(fields<Block>({ cidr: filled(net) }));
  return fields<BgpConfigurationSpec>(
    {
      serviceLoadBalancerIPs: blocks,
      serviceExternalIPs: blocks,
      serviceClusterIPs: blocks,
      communities: each(
        fields<NonNullable<BgpConfigurationSpec["communities"]>[number]>({
          name: always("", required, name),
          value: always("", required),
        }),
      ),
      prefixAdvertisements: each(
        fields<NonNullable<BgpConfigurationSpec["prefixAdvertisements"]>[number]>({
          cidr: always("", required, net),
          communities: requiredList,
        }),
      ),
      listenPort: filled(...above(0)),
      ignoredInterfaces: each(always("", ignoredInterface)),
      localWorkloadPeeringIPV4: filled(ipOf(4)),
      localWorkloadPeeringIPV6: filled(ipOf(6)),
      ipv4NormalRoutePriority: given(...priorityTags),
      ipv6NormalRoutePriority: given(...priorityTags),
    },
    communityProblems,
  );
};

/** Of these there is one for all nodes. */
const clusterWide: readonly (readonly [keyof BgpConfigurationSpec, string, string])[] = [
  ["nodeToNodeMeshEnabled", "NodeToNodeMeshEnabled", "nodeToNodeMeshEnabled"],
  ["asNumber", "ASNumber", "ASNumber"],
  ["serviceLoadBalancerIPs", "ServiceLoadBalancerIPs", "ServiceLoadBalancerIPs"],
  ["serviceExternalIPs", "ServiceExternalIPs", "ServiceExternalIPs"],
  ["serviceClusterIPs", "ServiceClusterIPs", "ServiceClusterIPs"],
  ["nodeMeshPassword", "NodeMeshPassword", "nodeMeshPassword"],
  ["nodeMeshMaxRestartTime", "NodeMeshMaxRestartTime", "nodeMeshMaxRestartTime"],
];

function* beforeWrite({ metadata, spec }: SpecObject<BgpConfigurationSpec>): Generator<Problem> {
  if (metadata.name === "default") return;
  for (const [field, called, shown] of clusterWide) {
    const value = spec[field];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    yield {
      field: `spec.${field}`,
      rule: "is for the configuration that is called default",
      name: `BGPConfiguration.Spec.${called}`,
      reason: `Cannot set ${shown} on a non default BGP Configuration.`,
    };
  }
}

export const bgpConfiguration = followedResource("BGPConfiguration", {
  carries: "enforcement",
  names: ["bgpconfiguration", "bgpconfigurations", "bgpconfig", "bgpconfigs"],
  columns: {
    ps: [
      nameCell,
      cell("LOGSEVERITY", "spec.logSeverityScreen"),
      cell("MESHENABLED", "spec.nodeToNodeMeshEnabled", "-"),
      cell("ASNUMBER", "spec.asNumber", "-"),
    ],
  },
  rights: { node: ["get", "list", "watch", "create"] },
  schema: { spec: bgpConfigurationSpec },
  newGroup: { shortNames: ["bgpconfig", "bgpconfigs"] },
  checks: specChecks(checks),
  beforeWrite: forSpec(beforeWrite),
});

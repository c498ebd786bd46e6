// BGPConfiguration: how nodes speak BGP; passed through to clients.
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
import { cell, nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";
import { celRules, isFilled } from "../parts/cel.ts";
import { bgpPassword } from "./bgp-password.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const atomicMap = { "x-kubernetes-map-type": "atomic" };
const cidr = () => text({ format: "cidr" });
const block = () => list(struct({ cidr: cidr() }, atomicMap), atomic);
const priority = () => optional(integer(int64, { minimum: 1, maximum: 2147483646 }));
const needsMesh = (name: string) => ({
  rule: `!has(self.${name}) || !has(self.nodeToNodeMeshEnabled) || self.nodeToNodeMeshEnabled`,
  message: `${name} needs nodeToNodeMeshEnabled`,
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
      message: "communities are given, but no prefixAdvertisements that use them",
    }),
  ),
);
export type BgpConfigurationSpec = SchemaType<typeof bgpConfigurationSpec>;

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
});

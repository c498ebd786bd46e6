// Kubernetes' Service, with the field order of its Go type: Felix gets it whole.
import {
  flag,
  int32,
  integer,
  kept,
  lazy,
  list,
  map,
  optional,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { servedKind } from "../kind.ts";
import { condition } from "../parts/conditions.ts";
import { intOrText } from "../parts/int-or-text.ts";

const port = lazy(() =>
  struct({
    name: text(),
    protocol: text(),
    appProtocol: optional(text()),
    port: kept(integer(int32)),
    targetPort: kept(intOrText),
    nodePort: integer(int32),
  }),
);

export const serviceSpec = lazy(() =>
  struct({
    ports: list(port),
    selector: map(text()),
    clusterIP: text(),
    clusterIPs: list(text()),
    type: text(),
    externalIPs: list(text()),
    sessionAffinity: text(),
    loadBalancerIP: text(),
    loadBalancerSourceRanges: list(text()),
    externalName: text(),
    externalTrafficPolicy: text(),
    healthCheckNodePort: integer(int32),
    publishNotReadyAddresses: flag(),
    sessionAffinityConfig: optional(
      struct({ clientIP: optional(struct({ timeoutSeconds: optional(integer(int32)) })) }),
    ),
    ipFamilies: list(text()),
    ipFamilyPolicy: optional(text()),
    allocateLoadBalancerNodePorts: optional(flag()),
    loadBalancerClass: optional(text()),
    internalTrafficPolicy: optional(text()),
    trafficDistribution: optional(text()),
  }),
);
export type ServiceSpec = SchemaType<typeof serviceSpec>;

const ingressPort = lazy(() => struct({ port: kept(integer(int32)), protocol: kept(text()), error: optional(text()) }));

export const serviceStatus = lazy(() =>
  struct({
    loadBalancer: kept(
      struct({
        ingress: list(struct({ ip: text(), hostname: text(), ipMode: optional(text()), ports: list(ingressPort) })),
      }),
    ),
    conditions: list(condition),
  }),
);
export type ServiceStatus = SchemaType<typeof serviceStatus>;

export const service = servedKind("v1/services", "namespaced", {
  carries: "enforcement",
  rights: { node: ["list", "watch"] },
  schema: { spec: serviceSpec, status: serviceStatus },
});

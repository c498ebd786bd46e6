// Kubernetes' Service, with the field order of its Go type: Felix gets it whole.
import { int32 } from "../read-json.ts";
import { flag, integer, kept, list, map, optional, type SchemaType, struct, text } from "../schema.ts";
import { condition } from "./conditions.ts";
import { intOrText } from "./int-or-text.ts";

const port = struct({
  name: text(),
  protocol: text(),
  appProtocol: optional(text()),
  port: kept(integer(int32)),
  targetPort: kept(intOrText),
  nodePort: integer(int32),
});

export const serviceSpec = struct({
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
  sessionAffinityConfig: optional(struct({ clientIP: optional(struct({ timeoutSeconds: optional(integer(int32)) })) })),
  ipFamilies: list(text()),
  ipFamilyPolicy: optional(text()),
  allocateLoadBalancerNodePorts: optional(flag()),
  loadBalancerClass: optional(text()),
  internalTrafficPolicy: optional(text()),
  trafficDistribution: optional(text()),
});
export type ServiceSpec = SchemaType<typeof serviceSpec>;

const ingressPort = struct({ port: kept(integer(int32)), protocol: kept(text()), error: optional(text()) });

export const serviceStatus = struct({
  loadBalancer: kept(
    struct({
      ingress: list(struct({ ip: text(), hostname: text(), ipMode: optional(text()), ports: list(ingressPort) })),
    }),
  ),
  conditions: list(condition),
});
export type ServiceStatus = SchemaType<typeof serviceStatus>;

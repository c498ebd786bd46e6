// WorkloadEndpoint: an interface of a workload. Stored in etcd only; Kubernetes has pods.
import { int64, uint16 } from "../read-json.ts";
import { dscp, protocol } from "../scalars.ts";
import { integer, kept, list, optional, type SchemaType, struct, text } from "../schema.ts";

const amount = () => integer(int64);

export const qosControls = struct({
  ingressBandwidth: amount(),
  ingressBurst: amount(),
  ingressPeakrate: amount(),
  ingressMinburst: amount(),
  egressBandwidth: amount(),
  egressBurst: amount(),
  egressPeakrate: amount(),
  egressMinburst: amount(),
  ingressPacketRate: amount(),
  ingressPacketBurst: amount(),
  egressPacketRate: amount(),
  egressPacketBurst: amount(),
  ingressMaxConnections: amount(),
  egressMaxConnections: amount(),
  dscp: optional(dscp),
});
export type QosControls = SchemaType<typeof qosControls>;

export const workloadEndpointSpec = struct({
  orchestrator: text(),
  workload: text(),
  node: text(),
  containerID: text(),
  pod: text(),
  endpoint: text(),
  serviceAccountName: text(),
  ipNetworks: list(text()),
  ipNATs: list(struct({ internalIP: kept(text()), externalIP: kept(text()) })),
  ipv4Gateway: text(),
  ipv6Gateway: text(),
  profiles: list(text()),
  interfaceName: text(),
  mac: text(),
  ports: list(
    struct({
      name: kept(text()),
      protocol: kept(protocol),
      port: kept(integer(uint16)),
      hostPort: kept(integer(uint16)),
      hostIP: kept(text()),
    }),
  ),
  allowSpoofedSourcePrefixes: list(text()),
  qosControls,
});
export type WorkloadEndpointSpec = SchemaType<typeof workloadEndpointSpec>;

// WorkloadEndpoint: an interface of a workload. Stored in etcd only; Kubernetes has pods.
import {
  dscp,
  int64,
  integer,
  kept,
  lazy,
  list,
  optional,
  protocol,
  type SchemaType,
  struct,
  text,
  uint16,
} from "../../model/index.ts";
import { type Column, cell, listCell, nameCell, valueAt } from "../columns.ts";
import { etcdKind } from "../kind.ts";

const amount = () => integer(int64);

export const qosControls = lazy(() =>
  struct({
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
  }),
);
export type QosControls = SchemaType<typeof qosControls>;

export const workloadEndpointSpec = lazy(() =>
  struct({
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
  }),
);
export type WorkloadEndpointSpec = SchemaType<typeof workloadEndpointSpec>;

const workloadColumns: readonly Column[] = [
  {
    heading: "WORKLOAD",
    cell: (object) => String(valueAt(object, "spec.workload") || valueAt(object, "spec.pod") || ""),
  },
  cell("NODE", "spec.node"),
  listCell("NETWORKS", "spec.ipNetworks"),
  cell("INTERFACE", "spec.interfaceName"),
];
const natsCell: Column = {
  heading: "NATS",
  cell: (object) => {
    const nats = valueAt(object, "spec.ipNATs");
    return Array.isArray(nats) ? nats.map((nat) => String(valueAt(nat, "externalIP") ?? "")).join(",") : "";
  },
};

export const workloadEndpoint = etcdKind("WorkloadEndpoint", {
  carries: "enforcement",
  names: ["workloadendpoint", "workloadendpoints", "wep", "weps"],
  columns: {
    ps: workloadColumns,
    wide: [nameCell, ...workloadColumns, listCell("PROFILES", "spec.profiles"), natsCell],
    more: [cell("ORCHESTRATOR", "spec.orchestrator")],
  },
  schema: { spec: workloadEndpointSpec },
});

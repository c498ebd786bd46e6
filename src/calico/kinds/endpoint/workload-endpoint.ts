// WorkloadEndpoint: an interface of a workload. Stored in etcd and in folders; Kubernetes has pods.

import { parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
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
import { always, each, fields, filled, type Problem, printGo } from "../checks/check.ts";
import { above, cidr, containerId, interfaceName, ip, ipOf, mac, name, net, portName } from "../checks/tags.ts";
import { type Column, cell, listCell, nameCell, valueAt } from "../columns.ts";
import { etcdKind, forSpec, type SpecObject, specChecks } from "../kind.ts";

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

type Spec = WorkloadEndpointSpec;
type WorkloadPort = NonNullable<Spec["ports"]>[number];
type Nat = NonNullable<Spec["ipNATs"]>[number];

const checks = () => {
  const ports = fields<WorkloadPort>(
    { name: filled(portName), port: always<number | bigint>(0, ...above(0)), hostIP: filled(net) },
    function* ({ name: called = "", hostPort = 0 }, { path }) {
      if (called !== "" || hostPort !== 0) return;
      const reason = "WorkloadEndpointPort name must not be empty if no HostPort is specified";
      yield { field: `${path}.name`, rule: "must be given", name: "WorkloadEndpointPort.Name", value: "", reason };
    },
  );
  return fields<Spec>(
    {
      orchestrator: filled(name),
      workload: filled(name),
      node: filled(name),
      containerID: filled(containerId),
      pod: filled(name),
      endpoint: filled(name),
      serviceAccountName: filled(name),
      ipNetworks: each(filled(net)),
      ipNATs: each(fields<Nat>({ internalIP: filled(ip), externalIP: filled(ip) }, natProblems)),
      ipv4Gateway: filled(ipOf(4)),
      ipv6Gateway: filled(ipOf(6)),
      profiles: each(filled(name)),
      interfaceName: always("", interfaceName),
      mac: filled(mac),
      ports: each(ports),
      allowSpoofedSourcePrefixes: each(filled(cidr)),
    },
    networkProblems,
  );
};

function* natProblems(
  { internalIP = "", externalIP = "" }: Nat,
  { path }: { readonly path: string },
): Generator<Problem> {
  const [inside, outside] = [parseIp(internalIP), parseIp(externalIP)];
  if (inside === undefined || outside === undefined || inside.version === outside.version) return;
  const rule = "must be of the same family as internalIP";
  const reason = "mismatched IP versions";
  yield { field: `${path}.externalIP`, rule, name: "ExternalIP", value: externalIP, reason };
}

function* networkProblems({ ipNetworks = [], ipNATs = [] }: Spec): Generator<Problem> {
  const networks = ipNetworks.map(parseCidrOrIp);
  for (const [at, network] of networks.entries()) {
    if (network === undefined || network.prefixLength === (network.ip.version === 4 ? 32 : 128)) continue;
    const reason = "IP network contains multiple addresses";
    const rule = "must be a single address";
    yield { field: `spec.ipNetworks[${at}]`, rule, name: "IPNetworks", value: printGo(ipNetworks), reason };
  }
  const own = new Set(networks.map((network) => network?.ip.bytes.join(".")));
  for (const [at, { internalIP = "", externalIP = "" }] of ipNATs.entries()) {
    if (own.has(parseIp(internalIP)?.bytes.join("."))) continue;
    const value = printGo([{ internalIP, externalIP }]);
    const reason = "NAT is not in the endpoint networks";
    yield { field: `spec.ipNATs[${at}]`, rule: "must be for one of ipNetworks", name: "IPNATs", value, reason };
  }
}

const escaped = (text: string) => text.replaceAll("-", "--");

/** The name that node, orchestrator, workload and endpoint make together. */
export function workloadEndpointName({
  node = "",
  orchestrator = "",
  workload = "",
  pod = "",
  endpoint = "",
}: Spec): string {
  const place = orchestrator === "k8s" ? pod : workload;
  return [node, orchestrator, place, endpoint].map(escaped).join("-");
}

function* beforeWrite({ metadata, spec }: SpecObject<Spec>): Generator<Problem> {
  const expected = workloadEndpointName(spec);
  const { name: called = "" } = metadata;
  if (called === expected) return;
  const said = "the WorkloadEndpoint name does not match the primary identifiers assigned in the Spec";
  const reason = `${said}: expected name ${expected}`;
  yield { field: "metadata.name", rule: `must be ${expected}`, name: "Name", value: called, reason };
}

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
  checks: specChecks(checks),
  beforeWrite: forSpec(beforeWrite),
});

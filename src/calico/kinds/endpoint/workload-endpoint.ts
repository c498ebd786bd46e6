// WorkloadEndpoint: an interface of a workload. Stored in etcd and in folders; Kubernetes has pods.

import { type JsonRecord, parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
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
import { protocol as protocolCheck, withoutPorts } from "../policy/rule-checks.ts";

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
    {
      name: filled(portName),
      protocol: (value = 0, at) => protocolCheck(value, at),
      port: always<number | bigint>(0, ...above(0)),
      hostIP: filled(net),
    },
    function* ({ name: called = "", protocol: by, hostPort = 0 }, { path }) {
      yield* withoutPorts(by, { path, owner: "WorkloadEndpointPort" });
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
      profiles: each(always("", name)),
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
  // What is missing has no family, and so not the other's.
  const [inside, outside] = [internalIP, externalIP].map((text) => (text === "" ? 0 : parseIp(text)?.version));
  if (inside === undefined || outside === undefined || inside === outside) return;
  const rule = "must be of the same family as internalIP";
  const reason = "mismatched IP versions";
  yield { field: `${path}.externalIP`, rule, name: "ExternalIP", value: externalIP, reason };
}

function* networkProblems({ ipNetworks = [], ipNATs = [], ipv4Gateway, ipv6Gateway }: Spec): Generator<Problem> {
  const networks = ipNetworks.map(parseCidrOrIp);
  for (const [at, network] of networks.entries()) {
    if (network === undefined || network.prefixLength === (network.ip.version === 4 ? 32 : 128)) continue;
    const reason = "IP network contains multiple addresses";
    const rule = "must be a single address";
    yield { field: `spec.ipNetworks[${at}]`, rule, name: "IPNetworks", value: printGo(ipNetworks), reason };
  }
  for (const [family, value = ""] of [[4, ipv4Gateway] as const, [6, ipv6Gateway] as const]) {
    const gateway = parseCidrOrIp(value);
    if (gateway === undefined || gateway.ip.version === family) continue;
    const called = { field: `spec.ipv${family}Gateway`, name: `IPv${family}Gateway`, value };
    yield { ...called, rule: `must be of IPv${family}`, reason: `invalid IPv${family} gateway address specified` };
  }
  const own = new Set(networks.map((network) => network?.ip.bytes.join(".")));
  // The first is told, with all of them.
  const at = ipNATs.findIndex(({ internalIP = "" }) => !own.has(parseIp(internalIP)?.bytes.join(".")));
  if (at < 0) return;
  const value = printGo(ipNATs.map(({ internalIP = "", externalIP = "" }) => ({ internalIP, externalIP })));
  const reason = "NAT is not in the endpoint networks";
  yield { field: `spec.ipNATs[${at}]`, rule: "must be for one of ipNetworks", name: "IPNATs", value, reason };
}

export type EndpointNaming =
  | { readonly is: "name"; readonly name: string }
  /** A part that is missing, or that a name cannot hold. */
  | { readonly is: "problem"; readonly field: string; readonly value: string | undefined; readonly reason: string };

/** NODE-ORCHESTRATOR-WORKLOAD-ENDPOINT, dashes inside a part doubled. What the workload is called depends on who runs it. */
export function workloadEndpointName(spec: JsonRecord): EndpointNaming {
  const orchestrator = textAt(spec, "orchestrator");
  const workload = Object.hasOwn(workloadFields, orchestrator) ? (workloadFields[orchestrator] ?? "") : "workload";
  const parts: string[] = [];
  for (const field of ["node", "orchestrator", workload, "endpoint"]) {
    const value = textAt(spec, field);
    const problem = (reason: string): EndpointNaming => ({ is: "problem", field, value, reason });
    if (value === "") {
      const reason = "field should be assigned";
      return { is: "problem", field, value: field === "node" ? undefined : value, reason };
    }
    if (value.startsWith("-")) return problem("field must not begin with a '-'");
    if (value.endsWith("-")) return problem("field must not end with a '-'");
    parts.push(value.replaceAll("-", "--"));
  }
  return { is: "name", name: parts.join("-") };
}

const workloadFields: { readonly [orchestrator: string]: string } = {
  k8s: "pod",
  cni: "containerID",
  libnetwork: "orchestrator",
};

function textAt(spec: JsonRecord, field: string): string {
  const value = Object.hasOwn(spec, field) ? spec[field] : undefined;
  return typeof value === "string" ? value : "";
}

function* beforeWrite({ metadata, spec }: SpecObject<Spec>): Generator<Problem> {
  const naming = workloadEndpointName(spec);
  if (naming.is === "problem") {
    const { field, value, reason } = naming;
    const rule = value === undefined || value === "" ? "must be given" : reason;
    yield { field: `spec.${field}`, rule, name: field, ...(value === undefined ? {} : { value }), reason };
    return;
  }
  const { name: called = "" } = metadata;
  if (called === naming.name) return;
  const said = "the WorkloadEndpoint name does not match the primary identifiers assigned in the Spec";
  const reason = `${said}: expected name ${naming.name}`;
  yield { field: "metadata.name", rule: `must be ${naming.name}`, name: "Name", value: called, reason };
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

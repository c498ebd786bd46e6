// Node: Calico's view of a host. Never a custom resource: Kubernetes' own nodes carry it in annotations, etcd stores it.
import {
  asNumber,
  kept,
  lazy,
  list,
  optional,
  resourcePrefix,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { fields, filled, type Problem } from "../checks/check.ts";
import { cidrOf, ipOf, mac, wireguardKey } from "../checks/tags.ts";
import { type Column, cell, nameCell, valueAt } from "../columns.ts";
import { type SpecObject, servedKind, specChecks } from "../kind.ts";

export const nodeSpec = lazy(() =>
  struct({
    bgp: optional(
      struct({
        asNumber: optional(asNumber),
        ipv4Address: text(),
        ipv6Address: text(),
        ipv4IPIPTunnelAddr: text(),
        routeReflectorClusterID: text(),
      }),
    ),
    ipv4VXLANTunnelAddr: text(),
    vxlanTunnelMACAddr: text(),
    ipv6VXLANTunnelAddr: text(),
    vxlanTunnelMACAddrV6: text(),
    orchRefs: list(struct({ nodeName: text(), orchestrator: kept(text()) })),
    wireguard: optional(struct({ interfaceIPv4Address: text(), interfaceIPv6Address: text() })),
    addresses: list(struct({ address: kept(text()), type: text() })),
    interfaces: list(struct({ name: text(), addresses: list(text()) })),
  }),
);
export type NodeSpec = SchemaType<typeof nodeSpec>;

export const nodeStatus = lazy(() =>
  struct({
    wireguardPublicKey: text(),
    wireguardPublicKeyV6: text(),
    podCIDRs: list(text()),
  }),
);
export type NodeStatus = SchemaType<typeof nodeStatus>;

/** The node's own number; else that of the cluster, in brackets; nothing for a node without BGP. */
const asNumberCell: Column = {
  heading: "ASN",
  cell: (object, { defaultAsNumber }) => {
    if (valueAt(object, "spec.bgp") === undefined) return "";
    return String(valueAt(object, "spec.bgp.asNumber") ?? `(${defaultAsNumber ?? "unknown"})`);
  },
};

type Bgp = NonNullable<NodeSpec["bgp"]>;

const checks = () =>
  fields<NodeSpec>(
    {
      bgp: fields<Bgp>({
        ipv4Address: filled(cidrOf(4)),
        ipv6Address: filled(cidrOf(6)),
        ipv4IPIPTunnelAddr: filled(ipOf(4)),
        routeReflectorClusterID: filled(ipOf(4)),
      }),
      ipv4VXLANTunnelAddr: filled(ipOf(4)),
      vxlanTunnelMACAddr: filled(mac),
      ipv6VXLANTunnelAddr: filled(ipOf(6)),
      vxlanTunnelMACAddrV6: filled(mac),
      wireguard: fields<NonNullable<NodeSpec["wireguard"]>>({
        interfaceIPv4Address: filled(ipOf(4)),
        interfaceIPv6Address: filled(ipOf(6)),
      }),
      // Addresses and interfaces have rules, but the original does not look into these lists: an address that calico-node
      // found has its mask and host bits, and a node that has one can be patched (golden node-route-reflector).
    },
    bgpProblems,
  );

function* bgpProblems({ bgp }: NodeSpec): Generator<Problem> {
  if (bgp === undefined || Object.values(bgp).some((value) => value !== undefined && value !== "")) return;
  const reason = "Spec.BGP should not be empty";
  yield { field: "spec.bgp", rule: "must not be empty", name: "BGP", value: "&{<nil>    }", reason };
}

function* wholeChecks({ status }: SpecObject<object>): Generator<Problem> {
  const keys = fields<NodeStatus>({
    wireguardPublicKey: filled(wireguardKey),
    wireguardPublicKeyV6: filled(wireguardKey),
  });
  yield* keys(status, { path: "status", name: "Status" });
}

export const node = servedKind("v1/nodes", "cluster", {
  carries: "enforcement",
  etcdPrefix: resourcePrefix("Node"),
  names: ["node", "nodes", "no", "nos"],
  columns: {
    ps: [nameCell],
    wide: [nameCell, asNumberCell, cell("IPV4", "spec.bgp.ipv4Address"), cell("IPV6", "spec.bgp.ipv6Address")],
  },
  rights: {
    node: ["get", "list", "watch", "status:update", "status:patch"],
    cni: ["get"],
    ctl: ["get", "list", "update", "status:update"],
  },
  schema: { spec: nodeSpec, status: nodeStatus },
  checks: specChecks(checks),
  wholeChecks,
});

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
import { type Column, cell, nameCell, valueAt } from "../columns.ts";
import { servedKind } from "../kind.ts";

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
});

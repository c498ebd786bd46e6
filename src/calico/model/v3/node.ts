// Node: Calico's view of a host. Never a custom resource: Kubernetes' own nodes carry it in annotations, etcd stores it.
import { asNumber } from "../scalars.ts";
import { kept, list, optional, type SchemaType, struct, text } from "../schema.ts";

export const nodeSpec = struct({
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
});
export type NodeSpec = SchemaType<typeof nodeSpec>;

export const nodeStatus = struct({
  wireguardPublicKey: text(),
  wireguardPublicKeyV6: text(),
  podCIDRs: list(text()),
});
export type NodeStatus = SchemaType<typeof nodeStatus>;

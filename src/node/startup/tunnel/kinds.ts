// The five kinds of tunnel that take an address from a pool: which pools it may come from, where the Node has it, and how IPAM names it. The order is
// the original's.
import { type Family, isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { V3Object } from "../../../calico/resources/index.ts";
import { withBgp } from "../addresses/configure.ts";

export type TunnelKind = {
  /** As it is noted beside the address. */
  readonly type: string;
  readonly family: Family;
  readonly handlePrefix: string;
  /** Whether the node has such a tunnel at all. */
  isWanted(node: V3Object, options: { readonly wireguardHostEncryption: boolean }): boolean;
  /** Whether tunnels of this kind lead through the pool. */
  usesPool(spec: JsonRecord): boolean;
  addressOf(node: V3Object): string;
  /** "" takes it away. */
  withAddress(node: V3Object, address: string): V3Object;
};

const isEncapsulated = (mode: unknown) => mode === "Always" || mode === "CrossSubnet";
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function wireguard(family: Family): TunnelKind {
  const [field, key] =
    family === 4 ? ["interfaceIPv4Address", "wireguardPublicKey"] : ["interfaceIPv6Address", "wireguardPublicKeyV6"];
  const sectionOf = ({ spec }: V3Object) => (isRecord(spec.wireguard) ? spec.wireguard : {});
  return {
    type: family === 4 ? "wireguardTunnelAddress" : "wireguardV6TunnelAddress",
    family,
    handlePrefix: family === 4 ? "wireguard-tunnel-addr-" : "wireguard-v6-tunnel-addr-",
    isWanted: ({ status }, { wireguardHostEncryption }) =>
      !wireguardHostEncryption && textOf(status?.[key ?? ""]) !== "",
    usesPool: () => true,
    addressOf: (node) => textOf(sectionOf(node)[field ?? ""]),
    withAddress(node, address) {
      const { wireguard: _, ...spec } = node.spec;
      const fields = Object.entries({ ...sectionOf(node), [field ?? ""]: address }).filter(([, value]) => value !== "");
      return { ...node, spec: fields.length === 0 ? spec : { ...spec, wireguard: Object.fromEntries(fields) } };
    },
  };
}

function vxlan(family: Family): TunnelKind {
  const field = family === 4 ? "ipv4VXLANTunnelAddr" : "ipv6VXLANTunnelAddr";
  return {
    type: family === 4 ? "vxlanTunnelAddress" : "vxlanV6TunnelAddress",
    family,
    handlePrefix: family === 4 ? "vxlan-tunnel-addr-" : "vxlan-v6-tunnel-addr-",
    isWanted: () => true,
    usesPool: ({ vxlanMode }) => isEncapsulated(vxlanMode),
    addressOf: ({ spec }) => textOf(spec[field]),
    withAddress(node, address) {
      const { [field]: _, ...spec } = node.spec;
      return { ...node, spec: address === "" ? spec : { ...spec, [field]: address } };
    },
  };
}

const ipip: TunnelKind = {
  type: "ipipTunnelAddress",
  family: 4,
  handlePrefix: "ipip-tunnel-addr-",
  isWanted: () => true,
  usesPool: ({ ipipMode }) => isEncapsulated(ipipMode),
  addressOf: ({ spec }) => (isRecord(spec.bgp) ? textOf(spec.bgp.ipv4IPIPTunnelAddr) : ""),
  withAddress: (node, address) => withBgp(node, { ipv4IPIPTunnelAddr: address }),
};

export const tunnelKinds: readonly TunnelKind[] = [wireguard(4), wireguard(6), ipip, vxlan(4), vxlan(6)];

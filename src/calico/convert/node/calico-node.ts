// Calico's Node: how it is written, what validation finds wrong with it, and what Felix gets of it. Kubernetes
// nodes (node.ts) and stored ones (etcd) both end here.
import { canonicalCidr, canonicalIp, canonicalMac, parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
import { type NodeSpec, type NodeStatus, nodeSpec, nodeStatus } from "../../kinds/index.ts";
import { type ObjectMeta, resourcePrefix, writeGoString } from "../../model/index.ts";
import { metadataProblem } from "../object/metadata-rules.ts";
import { writeResource } from "../object/resource.ts";
import { type ConvertedKv, deletion, type FieldProblem, invalidKv } from "../processor/processor.ts";

export type V3Node = { readonly metadata: ObjectMeta; readonly spec: NodeSpec; readonly status: NodeStatus };

function writeNode({ metadata, spec, status }: V3Node): string {
  return writeResource("Node", metadata, { spec: nodeSpec.go.write(spec), status: nodeStatus.go.write(status) });
}

const nodePrefix = resourcePrefix("Node");

/** The key/value that all syncers of nodes get. */
function nodeKv(node: V3Node, revision: string, problem: FieldProblem | undefined): ConvertedKv {
  const path = nodePrefix + (node.metadata.name ?? "");
  if (problem !== undefined) return invalidKv(path, revision);
  return { path, value: writeNode(node), revision, v3ResourceVersion: node.metadata.resourceVersion ?? "" };
}

/** What Felix gets besides the node: its tunnel addresses as settings of the host, and its WireGuard keys. */
function hostPaths(name: string) {
  const host = `/calico/v1/host/${name}`;
  return {
    ipip: `${host}/config/IpInIpTunnelAddr`,
    vxlan: `${host}/config/IPv4VXLANTunnelAddr`,
    vxlanMac: `${host}/config/VXLANTunnelMACAddr`,
    vxlanV6: `${host}/config/IPv6VXLANTunnelAddr`,
    vxlanMacV6: `${host}/config/VXLANTunnelMACAddrV6`,
    wireguard: `${host}/wireguard`,
  };
}

/** In the order in which they are sent: five settings, the node, WireGuard. */
export function felixNodeKvs(node: V3Node, revision: string, problem: FieldProblem | undefined): ConvertedKv[] {
  const paths = hostPaths(node.metadata.name ?? "");
  const { spec } = node;
  const setting = (path: string, value: string | undefined): ConvertedKv =>
    value === undefined || value === "" ? deletion(path) : { path, value, revision, v3ResourceVersion: "" };
  return [
    setting(paths.ipip, canonicalIp(spec.bgp?.ipv4IPIPTunnelAddr ?? "")),
    setting(paths.vxlan, canonicalIp(spec.ipv4VXLANTunnelAddr ?? "")),
    setting(paths.vxlanMac, spec.vxlanTunnelMACAddr),
    setting(paths.vxlanV6, canonicalIp(spec.ipv6VXLANTunnelAddr ?? "")),
    setting(paths.vxlanMacV6, spec.vxlanTunnelMACAddrV6),
    nodeKv(node, revision, problem),
    setting(paths.wireguard, writeWireguard(node)),
  ];
}

export function felixNodeDeletions(name: string): ConvertedKv[] {
  const { ipip, vxlan, vxlanMac, vxlanV6, vxlanMacV6, wireguard } = hostPaths(name);
  return [ipip, vxlan, vxlanMac, vxlanV6, vxlanMacV6, nodePrefix + name, wireguard].map(deletion);
}

/** The keys are sent as they are, even where they make the node itself invalid. */
function writeWireguard({ spec, status }: V3Node): string | undefined {
  const members: string[] = [];
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "") members.push(`"${name}":${writeGoString(value)}`);
  };
  add("interfaceIPv4Addr", canonicalIp(spec.wireguard?.interfaceIPv4Address ?? ""));
  add("publicKey", status.wireguardPublicKey);
  add("interfaceIPv6Addr", canonicalIp(spec.wireguard?.interfaceIPv6Address ?? ""));
  add("publicKeyV6", status.wireguardPublicKeyV6);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

/** With USE_POD_CIDR a node's pod CIDRs stand in for its IPAM blocks. */
export function podCidrBlocks({ metadata, status }: V3Node, revision: string): ConvertedKv[] {
  return (status.podCIDRs ?? []).flatMap((text) => {
    const cidr = canonicalCidr(text);
    if (cidr === undefined) return [];
    const affinity = writeGoString(`host:${metadata.name ?? ""}`);
    const value = `{"cidr":"${cidr.text}","affinity":${affinity},"allocations":null,"unallocated":null,"attributes":null,"sequenceNumber":0,"sequenceNumberForAllocation":null,"deleted":false}`;
    const path = `/calico/ipam/v2/assignment/ipv${cidr.version}/block/${cidr.text.replace("/", "-")}`;
    return [{ path, value, revision, v3ResourceVersion: "" }];
  });
}

// Go's base64 reader passes over line breaks, so that a key with one at its end is good.
const wireguardKey = /^[A-Za-z0-9+/]{43}=$/;

/** What the validation filter finds wrong with a node; undefined: nothing. */
export function nodeProblem({ metadata, spec, status }: V3Node): FieldProblem | undefined {
  const bad = (field: string, rule: string): FieldProblem => ({ field, rule });
  const { bgp, wireguard } = spec;
  if (bgp !== undefined && Object.values(bgp).every((value) => value === undefined || value === "")) {
    return bad("spec.bgp", "must not be empty");
  }
  const networks = [
    ["spec.bgp.ipv4Address", bgp?.ipv4Address, 4],
    ["spec.bgp.ipv6Address", bgp?.ipv6Address, 6],
  ] as const;
  for (const [field, value, version] of networks) {
    if (value === undefined || value === "" || parseCidrOrIp(value)?.ip.version === version) continue;
    return bad(field, `must be an IPv${version} address or network`);
  }
  const addresses = [
    ["spec.bgp.ipv4IPIPTunnelAddr", bgp?.ipv4IPIPTunnelAddr, 4],
    ["spec.bgp.routeReflectorClusterID", bgp?.routeReflectorClusterID, 4],
    ["spec.ipv4VXLANTunnelAddr", spec.ipv4VXLANTunnelAddr, 4],
    ["spec.ipv6VXLANTunnelAddr", spec.ipv6VXLANTunnelAddr, 6],
    ["spec.wireguard.interfaceIPv4Address", wireguard?.interfaceIPv4Address, 4],
    ["spec.wireguard.interfaceIPv6Address", wireguard?.interfaceIPv6Address, 6],
  ] as const;
  for (const [field, value, version] of addresses) {
    if (value === undefined || value === "" || parseIp(value)?.version === version) continue;
    return bad(field, `must be an IPv${version} address without a prefix length`);
  }
  for (const field of ["vxlanTunnelMACAddr", "vxlanTunnelMACAddrV6"] as const) {
    const value = spec[field] ?? "";
    if (value !== "" && canonicalMac(value) === undefined) return bad(`spec.${field}`, "must be a MAC address");
  }
  for (const field of ["wireguardPublicKey", "wireguardPublicKeyV6"] as const) {
    const value = status[field] ?? "";
    if (value !== "" && !wireguardKey.test(value.replaceAll(/[\r\n]/g, "")))
      return bad(`status.${field}`, "must be the base64 of 32 bytes");
  }
  return metadataProblem(metadata);
}

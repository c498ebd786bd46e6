// A node as the others see it: its address and subnet in each family, and where its tunnels end.
import { createHash } from "node:crypto";
import {
  type AddressRange,
  canonicalIp,
  canonicalMac,
  type Family,
  holds,
  isRecord,
  type JsonRecord,
  parseCidrOrIp,
  parseRange,
} from "../../base/lib/index.ts";

export type FamilyFacts = {
  readonly address: string;
  /** As the node says it: with a mask of one address it has no neighbours. */
  readonly subnet: AddressRange;
  /** The address inside the tunnel; undefined: none was given to it (yet). */
  readonly tunnel: string | undefined;
  /** Of the device at the tunnel's end. */
  readonly mac: string;
  /** The same of IP in IP, which is of IPv4 only. */
  readonly ipipTunnel: string | undefined;
};

/** A node has a family if it has an address in it. */
export type NodeFacts = { readonly name: string } & { readonly [family in Family]: FamilyFacts | undefined };

const prefix = "/calico/resources/v3/projectcalico.org/nodes/";

/** The node's name; undefined: the key is of something else. */
export function nodeOfPath(path: string): string | undefined {
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

/** Undefined: not a node, or one without an address. */
export function readNode(name: string, value: unknown): NodeFacts | undefined {
  if (!isRecord(value) || !isRecord(value.spec)) return undefined;
  const facts = { name, 4: familyFacts(name, value.spec, 4), 6: familyFacts(name, value.spec, 6) };
  return facts[4] === undefined && facts[6] === undefined ? undefined : facts;
}

/** What a VXLAN packet of that node is sent to, and known by; undefined: it has no tunnel. */
export function tunnelEndOf(
  node: NodeFacts | undefined,
  family: Family,
): (FamilyFacts & { readonly tunnel: string }) | undefined {
  const facts = node?.[family];
  return facts?.tunnel === undefined ? undefined : { ...facts, tunnel: facts.tunnel };
}

/** Nothing about it is exchanged: every node computes it from the name. */
export function vtepMac(name: string, family: Family): string {
  const digest = createHash("sha1")
    .update(family === 6 ? `${name}-v6` : name)
    .digest();
  return ["66", ...Array.from(digest.subarray(0, 5), (byte) => byte.toString(16).padStart(2, "0"))].join(":");
}

/** Whether our own network holds the other's address: two nodes whose masks differ may see it differently. */
export function sameSubnet(own: FamilyFacts, other: FamilyFacts): boolean {
  const address = parseRange(other.address);
  return address !== undefined && holds(own.subnet, address);
}

export function sameNode(a: NodeFacts | undefined, b: NodeFacts | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.name === b.name && sameFamily(a[4], b[4]) && sameFamily(a[6], b[6]);
}

function sameFamily(a: FamilyFacts | undefined, b: FamilyFacts | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.address === b.address &&
    a.tunnel === b.tunnel &&
    a.mac === b.mac &&
    a.ipipTunnel === b.ipipTunnel &&
    a.subnet.first === b.subnet.first &&
    a.subnet.prefixLength === b.subnet.prefixLength
  );
}

function familyFacts(name: string, spec: JsonRecord, family: Family): FamilyFacts | undefined {
  const written = writtenAddress(spec, family);
  const cidr = written === undefined ? undefined : parseCidrOrIp(written);
  const subnet = written === undefined ? undefined : parseRange(written);
  if (cidr === undefined || subnet === undefined || cidr.ip.version !== family) return undefined;
  const tunnel = text(family === 4 ? spec.ipv4VXLANTunnelAddr : spec.ipv6VXLANTunnelAddr);
  const ipipTunnel = family === 4 && isRecord(spec.bgp) ? text(spec.bgp.ipv4IPIPTunnelAddr) : undefined;
  const mac = text(family === 4 ? spec.vxlanTunnelMACAddr : spec.vxlanTunnelMACAddrV6);
  return {
    address: canonicalIp((written ?? "").split("/")[0] ?? "") ?? "",
    subnet,
    tunnel: tunnel === undefined ? undefined : canonicalIp(tunnel),
    mac: (mac === undefined ? undefined : canonicalMac(mac)) ?? vtepMac(name, family),
    ipipTunnel: ipipTunnel === undefined ? undefined : canonicalIp(ipipTunnel),
  };
}

// A node that has an address for BGP in one family is asked for no other: what Kubernetes says counts only where nobody said anything.
function writtenAddress(spec: JsonRecord, family: Family): string | undefined {
  const bgp = isRecord(spec.bgp) ? spec.bgp : {};
  const [v4, v6] = [text(bgp.ipv4Address), text(bgp.ipv6Address)];
  if (v4 !== undefined || v6 !== undefined) return family === 4 ? v4 : v6;
  const listed = Array.isArray(spec.addresses) ? spec.addresses.filter(isRecord) : [];
  for (const type of ["InternalIP", "ExternalIP"]) {
    const found = listed.find((one) => one.type === type && isOf(one.address, family));
    if (found !== undefined) return text(found.address);
  }
  return undefined;
}

function isOf(address: unknown, family: Family): boolean {
  return typeof address === "string" && parseCidrOrIp(address)?.ip.version === family;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

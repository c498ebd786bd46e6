// Whether a rule holds for a packet: every part that it has must.
import { type AddressRange, holds } from "../../base/lib/index.ts";
import type { Members } from "./members.ts";
import { isIcmp } from "./protocols.ts";
import type { IcmpMatch, PortRange, Rule, Side } from "./rule.ts";

/** The first packet of a connection, or one without. Addresses are ranges of one. */
export type Packet = {
  readonly family: 4 | 6;
  readonly protocol: number;
  readonly source: AddressRange;
  readonly destination: AddressRange;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly icmp?: { readonly type: number; readonly code: number };
};

export function matches(rule: Rule, packet: Packet, members: Members): boolean {
  const { family, protocol } = packet;
  if (rule.family !== undefined && rule.family !== family) return false;
  if (rule.protocol !== undefined && rule.protocol !== protocol) return false;
  if (rule.notProtocol !== undefined && rule.notProtocol === protocol) return false;
  if ((rule.icmp ?? rule.notIcmp) !== undefined && !isIcmp(protocol, family)) return false;
  if (rule.icmp !== undefined && !isOfType(rule.icmp, packet)) return false;
  if (rule.notIcmp !== undefined && isOfType(rule.notIcmp, packet)) return false;
  return (
    sideMatches(rule.source, { packet, address: packet.source, port: packet.sourcePort, members }) &&
    sideMatches(rule.destination, { packet, address: packet.destination, port: packet.destinationPort, members })
  );
}

/** A negated pair means: not (this type and this code). */
function isOfType({ type, code }: IcmpMatch, { icmp }: Packet): boolean {
  return icmp !== undefined && icmp.type === type && (code === undefined || icmp.code === code);
}

type End = {
  readonly packet: Packet;
  readonly address: AddressRange;
  readonly port: number | undefined;
  readonly members: Members;
};

function sideMatches(side: Side, end: End): boolean {
  const { packet, address, port, members } = end;
  // A list that names no network of this family takes the rule out of the family, a negated one too.
  if (side.nets.length > 0 && !inFamily(side.nets, packet.family).some((net) => holds(net, address))) return false;
  if (side.notNets.length > 0) {
    const nets = inFamily(side.notNets, packet.family);
    if (nets.length === 0 || nets.some((net) => holds(net, address))) return false;
  }
  if (!side.sets.every((set) => members.hasAddress(set, address))) return false;
  if (side.notSets.some((set) => members.hasAddress(set, address))) return false;
  const isIn = (ranges: readonly PortRange[]) =>
    ranges.some(({ first, last }) => port !== undefined && port >= first && port <= last);
  const isNamed = (set: Side["namedPorts"][number]) => members.hasPort(set, address, packet.protocol, port);
  if (side.ports.length + side.namedPorts.length > 0 && !isIn(side.ports) && !side.namedPorts.some(isNamed))
    return false;
  if (isIn(side.notPorts) || side.notNamedPorts.some(isNamed)) return false;
  return side.service === undefined || isNamed(side.service);
}

function inFamily(nets: readonly AddressRange[], family: 4 | 6): readonly AddressRange[] {
  return nets.filter((net) => net.family === family);
}

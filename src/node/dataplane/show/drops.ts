// Denied packets as they happen, each with what denied it: samples that rules send to the kernel's packet log when DropSamplesPerSecond
// is set.
import { addressText } from "../../../base/lib/index.ts";
import { openNetlink, openPacketLog } from "../../../base/linux/kernel.ts";
import { protocolText } from "../../../calico/policy/index.ts";
import { dropLogGroup } from "../nft/endpoint-chains.ts";

export type Drop = {
  /** The policy and rule, or the reason where no policy is one. */
  readonly by: string;
  readonly protocol: string;
  readonly source: string;
  readonly sourcePort?: number;
  readonly destination: string;
  readonly destinationPort?: number;
  readonly icmp?: { readonly type: number; readonly code: number };
  readonly inInterface?: string;
  readonly outInterface?: string;
};

export async function* drops(options: {
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}): AsyncGenerator<Drop, void, undefined> {
  const { namespace, signal } = options;
  await using log = openPacketLog(dropLogGroup, { namespace, signal });
  const names = new Map<number, string>();
  const nameOf = async (index: number | undefined) => {
    if (index === undefined) return undefined;
    if (!names.has(index)) {
      await using netlink = openNetlink({ namespace });
      names.clear();
      for (const link of await netlink.links()) names.set(link.index, link.name);
    }
    return names.get(index) ?? String(index);
  };
  for await (const { prefix, packet, inInterface, outInterface } of log) {
    const read = readHeaders(packet);
    if (read === undefined) continue;
    const [from, to] = [await nameOf(inInterface), await nameOf(outInterface)];
    yield {
      by: prefix,
      ...read,
      ...(from === undefined ? {} : { inInterface: from }),
      ...(to === undefined ? {} : { outInterface: to }),
    };
  }
}

/** Undefined: no IP packet, or cut off before the addresses. */
export function readHeaders(packet: Uint8Array): Omit<Drop, "by"> | undefined {
  const version = (packet[0] ?? 0) >> 4;
  if (version === 4 && packet.length >= 20) {
    const length = ((packet[0] ?? 0) & 15) * 4;
    return {
      ...transport(packet[9] ?? 0, packet.subarray(length)),
      source: addressAt(packet, 12, 4),
      destination: addressAt(packet, 16, 4),
    };
  }
  if (version !== 6 || packet.length < 40) return undefined;
  return {
    ...transport(packet[6] ?? 0, packet.subarray(40)),
    source: addressAt(packet, 8, 6),
    destination: addressAt(packet, 24, 6),
  };
}

function transport(protocol: number, bytes: Uint8Array) {
  const name = { protocol: protocolText(protocol) };
  const u16 = (at: number) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  if ([6, 17, 132, 136].includes(protocol) && bytes.length >= 4)
    return { ...name, sourcePort: u16(0), destinationPort: u16(2) };
  if ((protocol === 1 || protocol === 58) && bytes.length >= 2)
    return { ...name, icmp: { type: bytes[0] ?? 0, code: bytes[1] ?? 0 } };
  return name;
}

function addressAt(packet: Uint8Array, at: number, family: 4 | 6): string {
  let address = 0n;
  for (const byte of packet.subarray(at, at + (family === 4 ? 4 : 16))) address = (address << 8n) | BigInt(byte);
  return addressText(family, address);
}

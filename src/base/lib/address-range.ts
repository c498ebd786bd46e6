// Networks as numbers: the first address and how many bits are fixed. Pools, blocks and reservations are such ranges, and
// whether one holds another is arithmetic. IPv6 needs 128 bits, so all addresses are bigints.
import { cidrToText, ipToText, mask, parseCidrOrIp, parseIp } from "./ip.ts";

export type Family = 4 | 6;
export type AddressRange = { readonly family: Family; readonly first: bigint; readonly prefixLength: number };

export const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);

/** A CIDR, or an address as a range of one; host bits are dropped. Undefined: neither. */
export function parseRange(text: string): AddressRange | undefined {
  const cidr = parseCidrOrIp(text);
  if (cidr === undefined) return undefined;
  const { ip, prefixLength } = mask(cidr);
  return { family: ip.version, first: numberOf(ip.bytes), prefixLength };
}

export function rangeText({ family, first, prefixLength }: AddressRange): string {
  return cidrToText({ ip: ipOf(family, first), prefixLength });
}

export function addressText(family: Family, address: bigint): string {
  return ipToText(ipOf(family, address));
}

export function parseAddress(text: string): { readonly family: Family; readonly address: bigint } | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : { family: ip.version, address: numberOf(ip.bytes) };
}

/** How many addresses. */
export function sizeOf({ family, prefixLength }: AddressRange): bigint {
  return 1n << BigInt(bitsOf(family) - prefixLength);
}

export function holds(outer: AddressRange, inner: AddressRange): boolean {
  if (outer.family !== inner.family || outer.prefixLength > inner.prefixLength) return false;
  return inner.first >= outer.first && inner.first < outer.first + sizeOf(outer);
}

/** The aligned range of that prefix length around the first address of a range. */
export function aroundOf({ family, first }: AddressRange, prefixLength: number): AddressRange {
  const hostBits = BigInt(bitsOf(family) - prefixLength);
  return { family, first: (first >> hostBits) << hostBits, prefixLength };
}

function numberOf(bytes: readonly number[]): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function ipOf(family: Family, address: bigint) {
  const count = bitsOf(family) / 8;
  const bytes = Array.from({ length: count }, (_, at) => Number((address >> BigInt((count - 1 - at) * 8)) & 0xffn));
  return { version: family, bytes };
}

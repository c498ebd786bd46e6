// IP and hardware addresses between the text that people write and the bytes that the kernel has.
import { isIPv4, isIPv6 } from "node:net";
import { CattailError } from "../../../lib/index.ts";
import { malformed } from "./malformed.ts";
import type { Family } from "./numbers.ts";

export type IpBytes = { readonly family: Family; readonly bytes: Uint8Array };

export function ipBytes(address: string): IpBytes {
  if (isIPv4(address)) return { family: "inet", bytes: Uint8Array.from(address.split("."), Number) };
  if (isIPv6(address) && !address.includes("%")) return { family: "inet6", bytes: ipv6Bytes(address) };
  throw notAn("IP address", address, "as 10.0.0.1 or fd00::1");
}

export type PrefixBytes = IpBytes & { readonly length: number };

/** `10.0.0.0/24`; without a length it is a single address. */
export function prefixBytes(prefix: string): PrefixBytes {
  const slash = prefix.indexOf("/");
  const { family, bytes } = ipBytes(slash < 0 ? prefix : prefix.slice(0, slash));
  const most = bytes.length * 8;
  const length = slash < 0 ? String(most) : prefix.slice(slash + 1);
  if (!/^\d{1,3}$/.test(length) || Number(length) > most) throw notAn("IP network", prefix, "as 10.0.0.0/24");
  return { family, bytes, length: Number(length) };
}

/** As `ip` prints it: RFC 5952. */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  if (bytes.length !== 16) throw malformed(`an address of ${bytes.length} bytes`);
  if (bytes.every((byte, i) => byte === (i < 10 ? 0 : i < 12 ? 0xff : byte))) {
    return `::ffff:${ipText(bytes.subarray(12))}`;
  }
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  const { start, length } = longestZeros(groups);
  const hex = (part: number[]): string => part.map((group) => group.toString(16)).join(":");
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

export function macBytes(mac: string): Uint8Array {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac)) throw notAn("hardware address", mac, "as ee:ee:ee:ee:ee:ee");
  return Uint8Array.from(mac.split(":"), (byte) => Number.parseInt(byte, 16));
}

export function macText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function ipv6Bytes(address: string): Uint8Array {
  // The last 32 bits may be written as an IPv4 address.
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, before = "", a, b, c, d] = dotted ?? [];
  const plain =
    dotted === null
      ? address
      : `${before}${((Number(a) << 8) | Number(b)).toString(16)}:${((Number(c) << 8) | Number(d)).toString(16)}`;
  const [left = "", right] = plain.split("::");
  const groupsOf = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [head, tail] = [groupsOf(left), groupsOf(right ?? "")];
  const groups = [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length += 1;
    if (length > longest.length) longest = { start, length };
    start += length;
  }
  return longest;
}

function notAn(what: string, value: string, how: string): CattailError {
  return new CattailError("NETLINK_VALUE", {
    problem: `${JSON.stringify(value)} is not an ${what}`.replace("an hardware", "a hardware"),
    next: `Write it ${how}`,
  });
}

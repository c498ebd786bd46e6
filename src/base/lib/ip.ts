// IP addresses, networks and MACs, read and printed as Go's net package does: no leading zeros in an address, no zones,
// IPv4-mapped IPv6 is IPv4, prefix lengths may have leading zeros.

type Ip = { readonly version: 4 | 6; readonly bytes: readonly number[] };
export type Cidr = { readonly ip: Ip; readonly prefixLength: number };

const ipv4Pattern = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const hexGroup = /^[0-9a-fA-F]{1,4}$/;
const digits = /^[0-9]{1,9}$/;

/** Undefined: not an IP address. */
export function parseIp(text: string): Ip | undefined {
  const bytes = parseBytes(text);
  return bytes === undefined ? undefined : fromBytes(bytes);
}

/** An address as text in its canonical form. Undefined: not an IP address. */
export function canonicalIp(text: string): string | undefined {
  if (ipv4Pattern.test(text)) return text;
  const ip = parseIp(text);
  return ip === undefined ? undefined : ipToText(ip);
}

/** Strictly ADDRESS/LENGTH. The address keeps its host bits: mask() removes them. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const bytes = parseBytes(text.slice(0, slash));
  const lengthText = text.slice(slash + 1);
  if (bytes === undefined || !digits.test(lengthText)) return undefined;
  const length = Number(lengthText);
  if (length > bytes.length * 8) return undefined;
  const ip = fromBytes(bytes);
  if (ip.version === 6 || bytes.length === 4) return { ip, prefixLength: length };
  // ::ffff:10.1.2.3/120 is 10.1.2.3/24, but with less than 96 bits the mapping prefix itself is masked away.
  if (length >= 96) return { ip, prefixLength: length - 96 };
  return { ip: { version: 6, bytes }, prefixLength: length };
}

/** ADDRESS/LENGTH, or a bare address as a network of one. The empty string is neither (Go's parser lets it pass). */
export function parseCidrOrIp(text: string): Cidr | undefined {
  const cidr = parseCidr(text);
  if (cidr !== undefined) return cidr;
  const ip = parseIp(text);
  return ip === undefined ? undefined : { ip, prefixLength: ip.bytes.length * 8 };
}

export function mask(cidr: Cidr): Cidr {
  const bytes = cidr.ip.bytes.map((byte, at) => {
    const kept = Math.min(8, Math.max(0, cidr.prefixLength - at * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return { ip: { version: cidr.ip.version, bytes }, prefixLength: cidr.prefixLength };
}

export function isMasked(cidr: Cidr): boolean {
  return mask(cidr).ip.bytes.every((byte, at) => byte === cidr.ip.bytes[at]);
}

export function ipToText(ip: Ip): string {
  return ip.version === 4 ? ip.bytes.join(".") : ipv6ToText(ip.bytes);
}

export function cidrToText(cidr: Cidr): string {
  return `${ipToText(cidr.ip)}/${cidr.prefixLength}`;
}

export type Network = { readonly version: 4 | 6; readonly text: string };

/** A CIDR or bare address as its masked, canonical text. The fast path is for pods, whose addresses are bare IPv4. */
export function canonicalNetwork(text: string): Network | undefined {
  if (ipv4Pattern.test(text)) return { version: 4, text: `${text}/32` };
  const cidr = parseCidrOrIp(text);
  return cidr === undefined ? undefined : { version: cidr.ip.version, text: cidrToText(mask(cidr)) };
}

/** Strictly a CIDR, as its masked, canonical text. */
export function canonicalCidr(text: string): Network | undefined {
  const cidr = parseCidr(text);
  return cidr === undefined ? undefined : { version: cidr.ip.version, text: cidrToText(mask(cidr)) };
}

const macForms = [
  /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/i,
  /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){6}$/i,
  /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){18}$/i,
  /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}$/i,
  /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){3}$/i,
  /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){9}$/i,
];

/** A MAC of 6, 8 or 20 bytes in any of Go's forms, as lower-case pairs with colons. */
export function canonicalMac(text: string): string | undefined {
  if (text.length > 59 || !macForms.some((form) => form.test(text))) return undefined;
  const pairs = text.replace(/[:.-]/g, "").toLowerCase().match(/../g) ?? [];
  return pairs.join(":");
}

function fromBytes(bytes: readonly number[]): Ip {
  if (bytes.length === 4) return { version: 4, bytes };
  return isMapped(bytes) ? { version: 4, bytes: bytes.slice(12) } : { version: 6, bytes };
}

function isMapped(bytes: readonly number[]): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && bytes.slice(0, 10).every((byte) => byte === 0);
}

function parseBytes(text: string): readonly number[] | undefined {
  if (ipv4Pattern.test(text)) return text.split(".").map(Number);
  // The longest address is 45 characters; a longer text need not be looked at.
  return text.length <= 45 && text.includes(":") ? parseIpv6(text) : undefined;
}

function parseIpv6(text: string): readonly number[] | undefined {
  const gap = text.indexOf("::");
  if (gap < 0) {
    const all = parseGroups(text);
    return all?.length === 16 ? all : undefined;
  }
  const before = text.slice(0, gap);
  const after = text.slice(gap + 2);
  const left = before === "" ? [] : parseGroups(before);
  const right = after === "" ? [] : parseGroups(after);
  if (left === undefined || right === undefined || (before !== "" && before.includes("."))) return undefined;
  // The gap stands for at least one group.
  const missing = 16 - left.length - right.length;
  return missing < 2 ? undefined : [...left, ...new Array<number>(missing).fill(0), ...right];
}

/** Hex groups with an optional dotted quad at the end, as bytes. */
function parseGroups(text: string): number[] | undefined {
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [at, group] of groups.entries()) {
    if (at === groups.length - 1 && group.includes(".")) {
      if (!ipv4Pattern.test(group)) return undefined;
      bytes.push(...group.split(".").map(Number));
    } else {
      if (!hexGroup.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

/** RFC 5952: the first longest run of two or more zero groups becomes "::". */
function ipv6ToText(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}

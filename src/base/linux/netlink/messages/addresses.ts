// The IP addresses of links.
import { ipBytes, ipText, prefixBytes } from "./ip-bytes.ts";
import type { Span } from "./message-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { flagBits, flagNames, numberOf, type Scope, scopeName, scopes } from "./names.ts";
import { addressAttributes as at, type Family, families, familyName } from "./numbers.ts";

const addressFlags = {
  secondary: 0x01,
  nodad: 0x02,
  optimistic: 0x04,
  dadfailed: 0x08,
  home: 0x10,
  deprecated: 0x20,
  tentative: 0x40,
  permanent: 0x80,
  managetempaddr: 0x100,
  noprefixroute: 0x200,
  autojoin: 0x400,
} as const;
export type AddressFlag = keyof typeof addressFlags;

export type Address = {
  readonly index: number;
  readonly family: Family;
  /** With the length of its network: `10.0.0.1/24`. */
  readonly address: string;
  /** The other end of a point-to-point link. */
  readonly peer?: string;
  readonly broadcast?: string;
  readonly label?: string;
  readonly scope: Scope;
  readonly flags: readonly AddressFlag[];
};
export type NewAddress = Pick<Address, "index" | "address" | "peer" | "broadcast" | "label"> & {
  readonly scope?: Scope;
  readonly flags?: readonly AddressFlag[];
};

export function writeAddress(out: MessageWriter, given: NewAddress): void {
  const { family, bytes, length } = prefixBytes(given.address);
  const flags = flagBits(addressFlags, given.flags ?? []);
  writeAddressHeader(out, { family, length, flags, scope: given.scope ?? 0, index: given.index });
  out.attribute(at.IFA_LOCAL, bytes);
  out.attribute(at.IFA_ADDRESS, given.peer === undefined ? bytes : ipBytes(given.peer).bytes);
  if (given.broadcast !== undefined) out.attribute(at.IFA_BROADCAST, ipBytes(given.broadcast).bytes);
  if (given.label !== undefined) out.attributeText(at.IFA_LABEL, given.label);
  if (flags !== 0) out.attributeU32(at.IFA_FLAGS, flags);
}

/** `ifaddrmsg`: family u8, prefix length u8, flags u8, scope u8, index u32. */
export function writeAddressHeader(
  out: MessageWriter,
  header: { family: Family | undefined; length: number; flags: number; scope: Scope; index: number },
): void {
  out.u8(header.family === undefined ? 0 : families[header.family]);
  out.u8(header.length);
  out.u8(header.flags & 0xff);
  out.u8(numberOf(scopes, header.scope));
  out.u32(header.index);
}

/** Undefined: of a family that has no place here. */
export function readAddress(body: Span): Address | undefined {
  const family = familyName(body.u8());
  const [length, shortFlags, scope, index] = [body.u8(1), body.u8(2), scopeName(body.u8(3)), body.u32(4)];
  if (family === undefined || family === "bridge") return undefined;
  let flags = shortFlags;
  let local: string | undefined;
  let other: string | undefined;
  const rest: { broadcast?: string; label?: string } = {};
  body.from(8).attributes((type, value) => {
    if (type === at.IFA_LOCAL) local = ipText(value.borrow());
    else if (type === at.IFA_ADDRESS) other = ipText(value.borrow());
    else if (type === at.IFA_BROADCAST) rest.broadcast = ipText(value.borrow());
    else if (type === at.IFA_LABEL) rest.label = value.text();
    else if (type === at.IFA_FLAGS) flags = value.u32();
  });
  // IPv6 without a peer has only IFA_ADDRESS; where both are there, IFA_ADDRESS is the other end.
  const address = `${local ?? other ?? ""}/${length}`;
  const peer = local !== undefined && other !== undefined && other !== local ? { peer: other } : {};
  return { index, family, address, scope, flags: flagNames(addressFlags, flags), ...peer, ...rest };
}

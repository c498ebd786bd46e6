// Neighbours (ARP and NDP) and the forwarding entries of bridges and VXLAN devices, which the kernel keeps under the same messages.
import { ipBytes, ipText, macBytes, macText } from "./ip-bytes.ts";
import type { Span } from "./message-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { flagBits, flagNames } from "./names.ts";
import { neighbourAttributes as at, type Family, families, familyName } from "./numbers.ts";

const states = {
  incomplete: 0x01,
  reachable: 0x02,
  stale: 0x04,
  delay: 0x08,
  probe: 0x10,
  failed: 0x20,
  noarp: 0x40,
  permanent: 0x80,
} as const;
export type NeighbourState = keyof typeof states;

const neighbourFlags = {
  use: 0x01,
  self: 0x02,
  master: 0x04,
  proxy: 0x08,
  extern_learn: 0x10,
  offload: 0x20,
  sticky: 0x40,
  router: 0x80,
} as const;
export type NeighbourFlag = keyof typeof neighbourFlags;

export type Neighbour = {
  /** `bridge`: a forwarding entry; then `address` is the VTEP behind which the hardware address is. */
  readonly family: Family | "bridge";
  readonly index: number;
  readonly address?: string;
  readonly mac?: string;
  readonly states: readonly NeighbourState[];
  readonly flags: readonly NeighbourFlag[];
  readonly vlan?: number;
  readonly vni?: number;
  readonly port?: number;
  /** The index of the bridge that has the entry. */
  readonly master?: number;
};
export type NewNeighbour = Omit<Neighbour, "states" | "flags" | "master"> & {
  /** Permanent unless told. */
  readonly states?: readonly NeighbourState[];
  /** A forwarding entry is the device's own (`self`) unless told. */
  readonly flags?: readonly NeighbourFlag[];
};

export function writeNeighbour(out: MessageWriter, given: NewNeighbour): void {
  writeNeighbourHeader(out, {
    family: given.family,
    index: given.index,
    states: flagBits(states, given.states ?? ["permanent"]),
    flags: flagBits(neighbourFlags, given.flags ?? (given.family === "bridge" ? ["self"] : [])),
  });
  if (given.address !== undefined) out.attribute(at.NDA_DST, ipBytes(given.address).bytes);
  if (given.mac !== undefined) out.attribute(at.NDA_LLADDR, macBytes(given.mac));
  if (given.vlan !== undefined) out.attributeU16(at.NDA_VLAN, given.vlan);
  if (given.vni !== undefined) out.attributeU32(at.NDA_VNI, given.vni);
  if (given.port !== undefined) out.attributeU16Network(at.NDA_PORT, given.port);
}

/** `ndmsg`: family u8, pad u8, pad u16, index i32, state u16, flags u8, type u8. */
export function writeNeighbourHeader(
  out: MessageWriter,
  header: { family: Neighbour["family"] | undefined; index: number; states: number; flags: number },
): void {
  out.u8(header.family === undefined ? 0 : families[header.family]);
  out.u8(0);
  out.u16(0);
  out.u32(header.index);
  out.u16(header.states);
  out.u8(header.flags);
  out.u8(0);
}

export function readNeighbour(body: Span): Neighbour | undefined {
  const family = familyName(body.u8());
  const neighbour: { -readonly [key in keyof Neighbour]: Neighbour[key] } = {
    family: family ?? "inet",
    index: body.i32(4),
    states: flagNames(states, body.u16(8)),
    flags: flagNames(neighbourFlags, body.u8(10)),
  };
  if (family === undefined) return undefined;
  body.from(12).attributes((type, value) => {
    if (type === at.NDA_DST) neighbour.address = ipText(value.borrow());
    else if (type === at.NDA_LLADDR && value.length > 0) neighbour.mac = macText(value.borrow());
    else if (type === at.NDA_VLAN) neighbour.vlan = value.u16();
    else if (type === at.NDA_VNI) neighbour.vni = value.u32();
    else if (type === at.NDA_PORT) neighbour.port = value.u16Network();
    else if (type === at.NDA_MASTER) neighbour.master = value.u32();
  });
  return neighbour;
}

// Entries of the kernel's connection tracker as bytes: which addresses a connection is between, and what names it for a deletion.
//
//   nlmsghdr (subsystem 1, message) ─ nfgenmsg: family u8, version u8, resource u16 ─ CTA_TUPLE_ORIG ─ CTA_TUPLE_REPLY ─ CTA_ID ─ CTA_ZONE ...
//   a tuple: CTA_TUPLE_IP { source, destination }, CTA_TUPLE_PROTO { number, ports or ICMP's fields }
import { ipText } from "../netlink/messages/ip-bytes.ts";
import type { Message, Span } from "../netlink/messages/message-reader.ts";
import type { MessageWriter } from "../netlink/messages/message-writer.ts";
import { type Family, families, familyName, flags } from "../netlink/messages/numbers.ts";

const subsystem = 1 << 8; // NFNL_SUBSYS_CTNETLINK
export const conntrackTypes = { new: subsystem | 0, get: subsystem | 1, delete: subsystem | 2 } as const;
const at = { CTA_TUPLE_ORIG: 1, CTA_TUPLE_REPLY: 2, CTA_ID: 12, CTA_ZONE: 18 } as const;
const tupleIp = 1;
const ipAttributes = { inet: [1, 2], inet6: [3, 4] } as const;

export type Connection = {
  readonly family: Family;
  /** Source and destination as the first packet had them, and as its answer has them. */
  readonly addresses: readonly string[];
  /** What the kernel knows it by, as it came. */
  readonly original: Uint8Array;
  readonly id: Uint8Array | undefined;
  readonly zone: Uint8Array | undefined;
};

export function writeConntrackDump(out: MessageWriter, family: Family, sequence: number): void {
  out.begin(conntrackTypes.get, flags.NLM_F_REQUEST | flags.NLM_F_DUMP, sequence);
  writeHeader(out, family);
  out.end();
}

/** By what the kernel told of it, its number included: a connection that came after it with the same ports is another. */
export function writeConntrackDelete(out: MessageWriter, connection: Connection, sequence: number): void {
  out.begin(conntrackTypes.delete, flags.NLM_F_REQUEST | flags.NLM_F_ACK, sequence);
  writeHeader(out, connection.family);
  out.attribute(at.CTA_TUPLE_ORIG | nested, connection.original);
  if (connection.id !== undefined) out.attribute(at.CTA_ID, connection.id);
  if (connection.zone !== undefined) out.attribute(at.CTA_ZONE, connection.zone);
  out.end();
}

const nested = 0x8000;

function writeHeader(out: MessageWriter, family: Family): void {
  out.u8(families[family]);
  out.u8(0);
  out.u16(0);
}

/** Undefined: of a family that has no place here. */
export function readConnection({ body }: Message): Connection | undefined {
  const family = familyName(body.u8());
  if (family === undefined || family === "bridge") return undefined;
  const addresses: string[] = [];
  const found: { original?: Uint8Array; id?: Uint8Array; zone?: Uint8Array } = {};
  body.from(4).attributes((type, value) => {
    if (type === at.CTA_TUPLE_ORIG) found.original = value.borrow().slice();
    if (type === at.CTA_TUPLE_ORIG || type === at.CTA_TUPLE_REPLY) addresses.push(...addressesOf(value, family));
    else if (type === at.CTA_ID) found.id = value.borrow().slice();
    else if (type === at.CTA_ZONE) found.zone = value.borrow().slice();
  });
  if (found.original === undefined) return undefined;
  return { family, addresses, original: found.original, id: found.id, zone: found.zone };
}

function addressesOf(tuple: Span, family: Family): string[] {
  const found: string[] = [];
  const [source, destination] = ipAttributes[family];
  tuple.attributes((type, ip) => {
    if (type !== tupleIp) return;
    ip.attributes((which, value) => {
      if (which === source || which === destination) found.push(ipText(value.borrow()));
    });
  });
  return found;
}

// DER, both ways: as much of it as certificates need. The reader checks every length before it looks further; the
// writer makes the shortest form, which is the only one DER has. certificate.ts reads with it, issue.ts writes.

export type DerNode = { readonly tag: number; readonly content: Uint8Array; readonly whole: Uint8Array };

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

// A certificate has a few dozen parts; one with thousands was made to be slow to read.
const maxChildren = 1_000;

class DerError extends Error {}

/** The node that starts at `offset`; what follows it is left alone. */
export function readNode(bytes: Uint8Array, offset = 0): DerNode {
  const tag = byteAt(bytes, offset);
  if ((tag & 0x1f) === 0x1f) throw new DerError("a tag of more than one byte");
  const first = byteAt(bytes, offset + 1);
  let length = first;
  let start = offset + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError(`a length of ${count} bytes`);
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + byteAt(bytes, start + i);
    start += count;
  }
  if (length > bytes.length - start) throw new DerError(`a length of ${length} where ${bytes.length - start} are left`);
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(offset, start + length) };
}

export function children(node: DerNode): DerNode[] {
  const found: DerNode[] = [];
  for (let offset = 0; offset < node.content.length; ) {
    const child = readNode(node.content, offset);
    offset += child.whole.length;
    if (found.push(child) > maxChildren) throw new DerError(`more than ${maxChildren} parts in one`);
  }
  return found;
}

/** The node's children, after checking that it is what the caller takes it for. */
export function childrenOf(node: DerNode | undefined, tag: number): DerNode[] {
  if (node?.tag !== tag) throw new DerError(`tag ${node?.tag ?? "none"} where ${tag} belongs`);
  return children(node);
}

export function oidText(node: DerNode): string {
  if (node.tag !== tags.oid) throw new DerError(`tag ${node.tag} where an object identifier belongs`);
  const arcs: bigint[] = [];
  let value = 0n;
  for (const byte of node.content) {
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte & 0x80) continue;
    if (arcs.length === 0) {
      const root = value < 40n ? 0n : value < 80n ? 1n : 2n;
      arcs.push(root, value - root * 40n);
    } else arcs.push(value);
    value = 0n;
  }
  return arcs.join(".");
}

/** The text of any of the string types that names in certificates use. */
export function stringText(node: DerNode): string {
  const bytes = Buffer.from(node.content.buffer, node.content.byteOffset, node.content.byteLength);
  switch (node.tag) {
    case tags.teletexString:
      return bytes.toString("latin1");
    case tags.bmpString:
      return Buffer.from(bytes).swap16().toString("utf16le");
    case tags.universalString: {
      let text = "";
      for (let i = 0; i + 4 <= bytes.length; i += 4) text += String.fromCodePoint(bytes.readUInt32BE(i) % 0x110000);
      return text;
    }
    default:
      return bytes.toString("utf8");
  }
}

export function timeMs(node: DerNode): number {
  const text = Buffer.from(node.content).toString("latin1");
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null) throw new DerError(`a time of ${JSON.stringify(text)}`);
  const [, year = "", month, day, hour, minute, second] = match;
  const fullYear = year.length === 4 ? Number(year) : Number(year) + (Number(year) >= 50 ? 1900 : 2000);
  return Date.UTC(fullYear, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

export function encode(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) size.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length, ...size]), content]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => encode(tags.sequence, ...parts);

export function encodeOid(text: string): Buffer {
  const [root = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes: number[] = [];
  for (const arc of [root * 40 + second, ...rest]) {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) | 0x80);
    bytes.push(...groups);
  }
  return encode(tags.oid, Buffer.from(bytes));
}

/** Years up to 2049 as UTCTime, later ones as GeneralizedTime, as RFC 5280 wants. */
export function encodeTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return Number(digits.slice(0, 4)) < 2050
    ? encode(tags.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : encode(tags.generalizedTime, Buffer.from(`${digits}Z`));
}

function byteAt(bytes: Uint8Array, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw new DerError("the end where more belongs");
  return byte;
}

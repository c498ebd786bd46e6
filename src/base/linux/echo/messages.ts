// ICMP echo requests and what comes back, value ⇄ bytes. IPv4's raw sockets give the IP header with each message, IPv6's do not; sockets
// for unprivileged pings give it for neither.

export type EchoRequest = { readonly id: number; readonly sequence: number; readonly payloadBytes: number };

export type EchoAnswer =
  | { readonly is: "reply"; readonly id: number; readonly sequence: number; readonly bytes: number }
  /** Somebody on the way, or the peer's kernel, refuses the packet that we sent. */
  | { readonly is: "refused"; readonly why: Refusal; readonly id: number; readonly sequence: number };

export type Refusal =
  | { readonly is: "unreachable"; readonly what: "net" | "host" | "port" | "prohibited" | "other" }
  | { readonly is: "too big"; readonly mtu: number }
  | { readonly is: "time exceeded" };

const types = {
  4: { request: 8, reply: 0, unreachable: 3, exceeded: 11 },
  6: { request: 128, reply: 129, unreachable: 1, exceeded: 3 },
} as const;
const tooBigOf6 = 2;
const header = 8;

/** IPv6's checksum is the kernel's work. */
export function writeEchoRequest(family: 4 | 6, { id, sequence, payloadBytes }: EchoRequest): Uint8Array {
  const bytes = new Uint8Array(header + payloadBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, types[family].request);
  view.setUint16(4, id);
  view.setUint16(6, sequence);
  for (let at = header; at < bytes.length; at += 1) bytes[at] = at & 0xff;
  if (family === 4) view.setUint16(2, checksum(view));
  return bytes;
}

/** Undefined: it is about something else, or not whole. */
export function readEchoAnswer(
  family: 4 | 6,
  datagram: Uint8Array,
  { hasIpHeader }: { readonly hasIpHeader: boolean },
): EchoAnswer | undefined {
  const start = hasIpHeader && family === 4 ? ipHeaderLength(datagram) : 0;
  if (start === undefined || datagram.length < start + header) return undefined;
  const view = new DataView(datagram.buffer, datagram.byteOffset + start, datagram.length - start);
  const type = view.getUint8(0);
  if (type === types[family].reply) {
    return { is: "reply", id: view.getUint16(4), sequence: view.getUint16(6), bytes: view.byteLength - header };
  }
  const why = refusalOf(family, view);
  const asked = why === undefined ? undefined : quotedRequest(family, datagram.subarray(start + header));
  return why === undefined || asked === undefined ? undefined : { is: "refused", why, ...asked };
}

function refusalOf(family: 4 | 6, view: DataView): Refusal | undefined {
  const [type, code] = [view.getUint8(0), view.getUint8(1)];
  if (type === types[family].exceeded) return { is: "time exceeded" };
  if (family === 6 && type === tooBigOf6) return { is: "too big", mtu: view.getUint32(4) };
  if (type !== types[family].unreachable) return undefined;
  if (family === 4 && code === 4) return { is: "too big", mtu: view.getUint16(6) };
  const words =
    family === 4
      ? ({ 0: "net", 1: "host", 3: "port", 9: "prohibited", 10: "prohibited", 13: "prohibited" } as const)
      : ({ 0: "net", 1: "prohibited", 3: "host", 4: "port", 5: "prohibited", 6: "prohibited" } as const);
  return { is: "unreachable", what: words[code as keyof typeof words] ?? "other" };
}

/** The beginning of our own packet, which the refusal carries. */
function quotedRequest(family: 4 | 6, quoted: Uint8Array): { id: number; sequence: number } | undefined {
  const start = family === 6 ? 40 : ipHeaderLength(quoted);
  if (start === undefined || quoted.length < start + header) return undefined;
  const view = new DataView(quoted.buffer, quoted.byteOffset + start, header);
  if (view.getUint8(0) !== types[family].request) return undefined;
  return { id: view.getUint16(4), sequence: view.getUint16(6) };
}

function ipHeaderLength(packet: Uint8Array): number | undefined {
  const [first] = packet;
  const length = ((first ?? 0) & 0x0f) * 4;
  return first !== undefined && first >> 4 === 4 && length >= 20 && packet.length >= length ? length : undefined;
}

function checksum(view: DataView): number {
  let sum = 0;
  for (let at = 0; at < view.byteLength; at += 2) {
    sum += at + 1 < view.byteLength ? view.getUint16(at) : view.getUint8(at) << 8;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

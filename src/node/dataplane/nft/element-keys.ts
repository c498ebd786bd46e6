// Elements of sets as the kernel keys them: what nft makes of their text, for changes that are made without nft. What is not understood is
// left to nft.
import { mask, parseCidrOrIp } from "../../../base/lib/index.ts";
import type { SetChange, SetKey } from "../../../base/linux/kernel.ts";

/** A set that is there, and what becomes of its elements. */
export type ElementChange = {
  /** Its name in the kernel. */
  readonly set: string;
  readonly declaration: string;
  readonly isEmptied: boolean;
  /** Whether it holds nothing before these are added. */
  readonly startsEmpty: boolean;
  readonly added: readonly string[];
};

/** More than these are left to nft, which may be a program of its own: the event loop waits for the kernel. */
const mostElements = 500;

/** Undefined: for nft. */
export function setChanges(changes: readonly ElementChange[]): readonly SetChange[] | undefined {
  if (changes.reduce((sum, { added }) => sum + added.length, 0) > mostElements) return undefined;
  const found: SetChange[] = [];
  for (const change of changes) {
    const added = keysOf(change);
    if (added === undefined) return undefined;
    found.push({ set: change.set, isEmptied: change.isEmptied, added });
  }
  return found;
}

function keysOf({ declaration, added, startsEmpty }: ElementChange): readonly SetKey[] | undefined {
  const [, bits, kind] =
    /^type ipv([46])_addr(; flags interval;| \. inet_proto \. inet_service;)$/.exec(declaration) ?? [];
  if (bits === undefined) return undefined;
  const version = bits === "4" ? 4 : 6;
  return kind === "; flags interval;" ? intervals(added, version, startsEmpty) : withPorts(added, version);
}

/** Each network as its first address and the first one behind it. Behind the last network of all there is none: nft has a mark of its own for it. */
function intervals(elements: readonly string[], version: 4 | 6, startsEmpty: boolean): readonly SetKey[] | undefined {
  const found: { readonly first: Uint8Array; readonly end: Uint8Array }[] = [];
  for (const element of elements) {
    const net = parseCidrOrIp(element);
    if (net === undefined || net.ip.version !== version || net.prefixLength === 0) return undefined;
    const first = Uint8Array.from(mask(net).ip.bytes);
    const end = behind(first, net.prefixLength);
    if (end === undefined) return undefined;
    found.push({ first, end });
  }
  found.sort((a, b) => Buffer.compare(a.first, b.first));
  const keys = found.flatMap(({ first, end }) => [
    { bytes: first, isEnd: false },
    { bytes: end, isEnd: true },
  ]);
  // As nft does: what is before the first interval is an end, too.
  const zero = new Uint8Array(version === 4 ? 4 : 16);
  const isFirstZero = found[0]?.first.every((byte) => byte === 0) === true;
  return startsEmpty && keys.length > 0 && !isFirstZero ? [{ bytes: zero, isEnd: true }, ...keys] : keys;
}

function behind(first: Uint8Array, prefixLength: number): Uint8Array | undefined {
  const next = first.slice();
  let carried = 1 << (7 - ((prefixLength - 1) & 7));
  for (let at = (prefixLength - 1) >> 3; at >= 0 && carried > 0; at -= 1) {
    const sum = (next[at] ?? 0) + carried;
    next[at] = sum & 0xff;
    carried = sum >> 8;
  }
  return carried > 0 ? undefined : next;
}

/** "10.0.0.1 . 6 . 80": each part begins at a multiple of four bytes. */
function withPorts(elements: readonly string[], version: 4 | 6): readonly SetKey[] | undefined {
  const found: SetKey[] = [];
  for (const element of elements) {
    const [address = "", protocol, port] = element.split(" . ");
    const net = parseCidrOrIp(address);
    const [protocolNumber, portNumber] = [Number(protocol), Number(port)];
    const isUsual = net?.ip.version === version && net.prefixLength === net.ip.bytes.length * 8;
    if (!isUsual || !isUpTo(protocolNumber, 0xff) || !isUpTo(portNumber, 0xffff)) return undefined;
    const tail = [protocolNumber, 0, 0, 0, portNumber >> 8, portNumber & 0xff, 0, 0];
    found.push({ bytes: Uint8Array.from([...net.ip.bytes, ...tail]), isEnd: false });
  }
  return found;
}

function isUpTo(number: number, most: number): boolean {
  return Number.isInteger(number) && number >= 0 && number <= most;
}

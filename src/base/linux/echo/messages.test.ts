import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { type EchoAnswer, readEchoAnswer, writeEchoRequest } from "./messages.ts";

const ipv4 = [0x45, ...new Array<number>(19).fill(0)];
const ipv6 = [0x60, ...new Array<number>(39).fill(0)];
const asked4 = [...ipv4, 8, 0, 0, 0, 0, 7, 0, 2];
const asked6 = [...ipv6, 128, 0, 0, 0, 0, 7, 0, 2];
const ours = { id: 7, sequence: 2 };

type Case = { name: string; family: 4 | 6; bytes: number[]; says: EchoAnswer | undefined; isPlain?: true };
const cases: Case[] = [
  {
    name: "a reply behind its IP header",
    family: 4,
    bytes: [...ipv4, 0, 0, 0, 0, 0, 7, 0, 2, 1, 1],
    says: { is: "reply", ...ours, bytes: 2 },
  },
  {
    name: "a reply on a socket for unprivileged pings",
    family: 4,
    isPlain: true,
    bytes: [0, 0, 0, 0, 0, 7, 0, 2],
    says: { is: "reply", ...ours, bytes: 0 },
  },
  { name: "a reply of IPv6", family: 6, bytes: [129, 0, 0, 0, 0, 7, 0, 2], says: { is: "reply", ...ours, bytes: 0 } },
  {
    name: "a packet that is too long for a link",
    family: 4,
    bytes: [...ipv4, 3, 4, 0, 0, 0, 0, 0x05, 0x78, ...asked4],
    says: { is: "refused", why: { is: "too big", mtu: 1400 }, ...ours },
  },
  {
    name: "a packet that is too long for a link of IPv6",
    family: 6,
    bytes: [2, 0, 0, 0, 0, 0, 0x05, 0x78, ...asked6],
    says: { is: "refused", why: { is: "too big", mtu: 1400 }, ...ours },
  },
  {
    name: "a host that nobody answers for",
    family: 4,
    bytes: [...ipv4, 3, 1, 0, 0, 0, 0, 0, 0, ...asked4],
    says: { is: "refused", why: { is: "unreachable", what: "host" }, ...ours },
  },
  {
    name: "a firewall that says so",
    family: 6,
    bytes: [1, 1, 0, 0, 0, 0, 0, 0, ...asked6],
    says: { is: "refused", why: { is: "unreachable", what: "prohibited" }, ...ours },
  },
  {
    name: "a loop",
    family: 4,
    bytes: [...ipv4, 11, 0, 0, 0, 0, 0, 0, 0, ...asked4],
    says: { is: "refused", why: { is: "time exceeded" }, ...ours },
  },
  { name: "our own request, heard on loopback", family: 4, bytes: asked4, says: undefined },
  { name: "a refusal that quotes nothing", family: 4, bytes: [...ipv4, 3, 1, 0, 0, 0, 0, 0, 0], says: undefined },
  {
    name: "a refusal of something that was no ping",
    family: 4,
    bytes: [...ipv4, 3, 3, 0, 0, 0, 0, 0, 0, ...ipv4, 17, 0, 0, 0, 0, 0, 0, 0],
    says: undefined,
  },
  { name: "half a message", family: 4, bytes: [...ipv4, 0, 0], says: undefined },
  { name: "an IP header that says it is longer than the packet", family: 4, bytes: [0x4f, 0, 0], says: undefined },
  { name: "nothing", family: 6, bytes: [], says: undefined },
];

for (const { name, family, bytes, says, isPlain = false } of cases) {
  test(`${name} is ${says === undefined ? "passed over" : says.is}`, () =>
    deepEqual(readEchoAnswer(family, Uint8Array.from(bytes), { hasIpHeader: !isPlain }), says));
}

test("a request's checksum makes its sum all ones", () => {
  for (const payloadBytes of [0, 1, 56, 1472]) {
    const bytes = writeEchoRequest(4, { id: 0xbeef, sequence: 513, payloadBytes });
    const even = Uint8Array.from([...bytes, ...(bytes.length % 2 === 0 ? [] : [0])]);
    const view = new DataView(even.buffer);
    let sum = 0;
    for (let at = 0; at < view.byteLength; at += 2) sum += view.getUint16(at);
    equal(((sum & 0xffff) + (sum >>> 16)) & 0xffff, 0xffff);
    equal(bytes.length, 8 + payloadBytes);
  }
});

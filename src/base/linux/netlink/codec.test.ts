// Addresses as text and bytes; and decoders that any bytes may be given to.
import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { isIPv6 } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { CattailError } from "../../lib/index.ts";
import { readAnswer, readDone } from "./kernel-answer.ts";
import { ipBytes, ipText, macBytes, macText, prefixBytes } from "./messages/ip-bytes.ts";
import { writeNewLink } from "./messages/links.ts";
import { readMessages } from "./messages/message-reader.ts";
import { MessageWriter } from "./messages/message-writer.ts";
import { readNotification } from "./notifications.ts";

const texts: [written: string, read: string][] = [
  ["10.0.0.1", "10.0.0.1"],
  ["255.255.255.255", "255.255.255.255"],
  ["::", "::"],
  ["::1", "::1"],
  ["fd00::", "fd00::"],
  ["FD00:0:0:1:0:0:0:1", "fd00:0:0:1::1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["1:0:0:2:0:0:3:4", "1::2:0:0:3:4"],
  ["::ffff:10.0.0.1", "::ffff:10.0.0.1"],
  ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
];
for (const [written, read] of texts) test(`address ${written}`, () => equal(ipText(ipBytes(written).bytes), read));

test("an address is itself again after being text, and Node takes the text", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const text = ipText(bytes);
      ok(isIPv6(text), text);
      deepEqual(ipBytes(text).bytes, bytes);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (mac) => deepEqual(macBytes(macText(mac)), mac)),
  );
});

test("a pair of netkit is asked for with its mode and its peer, in the kernel's own numbers", () => {
  const out = new MessageWriter();
  out.begin(16, 0, 1);
  writeNewLink(out, { kind: "netkit", name: "caliX", peer: { name: "eth0", mtu: 1400 } });
  out.end();
  const hex = Buffer.from(out.bytes()).toString("hex");
  const header = "00000000".repeat(4);
  const peer = `2800 0180 ${header} 0900 0300 65746830 00 000000 0800 0400 78050000`;
  const data = `3400 0280 0800 0500 00000000 ${peer}`.replaceAll(" ", "");
  match(hex, new RegExp(`0b000100${Buffer.from("netkit").toString("hex")}00`));
  ok(hex.includes(data), hex);
});

for (const bad of ["", "10.0.0", "10.0.0.256", "::1%lo", "fd00::/64", "x"]) {
  test(`not an address: ${JSON.stringify(bad)}`, () => throws(() => ipBytes(bad), { code: "NETLINK_VALUE" }));
}
for (const bad of ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "fd00::/129", "10.0.0.0/1/2"]) {
  test(`not a network: ${bad}`, () => throws(() => prefixBytes(bad), { code: "NETLINK_VALUE" }));
}

test("whatever bytes come in, a value or an error comes out", () => {
  // Plausible headers with any body reach the decoders behind them.
  const message = fc
    .tuple(fc.constantFrom(2, 3, 16, 17, 20, 24, 25, 28, 32, 33), fc.uint16Array({ maxLength: 60 }), fc.nat(3))
    .map(([type, words, cut]) => {
      const body = new Uint8Array(words.buffer);
      const bytes = new Uint8Array(16 + body.length);
      const view = new DataView(bytes.buffer);
      view.setUint32(0, bytes.length - cut, true);
      view.setUint16(4, type, true);
      view.setUint16(6, 0x200, true);
      bytes.set(body, 16);
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(message, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      try {
        for (const each of readMessages(bytes)) {
          if (each.type === 2) readAnswer(each);
          else if (each.type === 3) readDone(each);
          else readNotification(each);
        }
      } catch (error) {
        ok(error instanceof CattailError && error.code === "NETLINK_MALFORMED", String(error));
      }
    }),
    { numRuns: 2_000 },
  );
});

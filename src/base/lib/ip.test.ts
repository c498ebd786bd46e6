import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalCidr, canonicalIp, canonicalMac, canonicalNetwork, isMasked, parseCidr } from "./ip.ts";

const networks: [string, string | undefined][] = [
  ["10.0.0.1", "10.0.0.1/32"],
  ["10.0.0.1/8", "10.0.0.0/8"],
  ["10.0.0.1/08", "10.0.0.0/8"],
  ["10.65.3.9/24", "10.65.3.0/24"],
  ["10.1.2.3/0", "0.0.0.0/0"],
  ["010.0.0.1", undefined],
  ["10.0.0", undefined],
  ["10.0.0.1.", undefined],
  ["10.0.0.256", undefined],
  ["10.0.0.1/33", undefined],
  ["10.0.0.1/", undefined],
  ["10.0.0.1/+8", undefined],
  ["10.0.0.1/99999999999999999999", undefined],
  [" 10.0.0.1", undefined],
  ["", undefined],
  ["x", undefined],
  ["fd00::9", "fd00::9/128"],
  ["FD00:0:0:0::1/48", "fd00::/48"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1/128"],
  ["1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0/128"],
  ["::", "::/128"],
  ["::/0", "::/0"],
  ["1::", "1::/128"],
  ["::ffff:10.1.2.3/120", "10.1.2.0/24"],
  ["::ffff:10.1.2.3", "10.1.2.3/32"],
  ["::ffff:10.1.2.3/96", "0.0.0.0/0"],
  ["::ffff:10.1.2.3/64", "::/64"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221/128"],
  ["1:2:3:4:5:6:7:8:9", undefined],
  ["1:2:3:4:5:6:7::8:9", undefined],
  ["1:2:3:4:5:6:7:8::", undefined],
  ["1::2::3", undefined],
  ["fe80::1%eth0", undefined],
  ["12345::", undefined],
  [":1", undefined],
  ["1:", undefined],
  ["1.2.3.4::", undefined],
  ["::1.2.3", undefined],
];
for (const [text, expected] of networks) {
  test(`network ${JSON.stringify(text)} is ${expected ?? "none"}`, () => equal(canonicalNetwork(text)?.text, expected));
}

test("a strict CIDR needs its length", () => {
  equal(canonicalCidr("10.0.0.1"), undefined);
  equal(canonicalCidr("10.0.0.1/16")?.text, "10.0.0.0/16");
});

test("host bits are seen", () => {
  const has = (text: string) => isMasked(parseCidr(text) ?? { ip: { version: 4, bytes: [1] }, prefixLength: 0 });
  equal(has("10.0.0.0/8"), true);
  equal(has("10.0.0.1/8"), false);
  equal(has("fd00::/12"), true);
  equal(has("fd00::1/12"), false);
});

const macs: [string, string | undefined][] = [
  ["EE:EE:EE:EE:EE:EE", "ee:ee:ee:ee:ee:ee"],
  ["ee-ee-ee-ee-ee-0f", "ee:ee:ee:ee:ee:0f"],
  ["0123.4567.89ab", "01:23:45:67:89:ab"],
  ["ee:ee:ee:ee:ee:ee:ee:ee", "ee:ee:ee:ee:ee:ee:ee:ee"],
  ["ee:ee-ee:ee:ee:ee", undefined],
  ["ee:ee:ee:ee:ee", undefined],
  ["", undefined],
];
for (const [text, expected] of macs) {
  test(`MAC ${JSON.stringify(text)} is ${expected ?? "none"}`, () => equal(canonicalMac(text), expected));
}

test("a canonical address is its own canonical form", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const canonical = canonicalIp(text);
      equal(typeof canonical, "string");
      equal(canonicalIp(canonical ?? ""), canonical);
    }),
  );
});

import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { addressText, parseServerAddress } from "./server-address.ts";

const good: [string, { host: string; port: number }][] = [
  ["10.0.0.7:1234", { host: "10.0.0.7", port: 1234 }],
  ["typha.example", { host: "typha.example", port: 5473 }],
  ["[fd00::7]:1234", { host: "fd00::7", port: 1234 }],
  ["fd00::7", { host: "fd00::7", port: 5473 }],
];
for (const [text, address] of good) {
  test(`${text} is a server address`, () => deepEqual(parseServerAddress(text), address));
}

for (const text of ["", "a:b", "host:0", "host:65536", "[host]:1", "http://host:1", "a b"]) {
  test(`${JSON.stringify(text)} is not a server address`, () =>
    throws(() => parseServerAddress(text), { code: "CLIENT_ADDRESS" }));
}

test("an IPv6 address is printed in brackets", () =>
  deepEqual(addressText({ host: "fd00::7", port: 1 }), "[fd00::7]:1"));

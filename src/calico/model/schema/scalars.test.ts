import { equal } from "node:assert/strict";
import { test } from "node:test";
import { canonicalAsNumber, canonicalPort, canonicalUint8OrText } from "./scalars.ts";

const ports: [unknown, unknown][] = [
  [80, 80],
  [0, 0],
  [65535, 65535],
  [65536, undefined],
  [-1, undefined],
  [1.5, undefined],
  ["80", 80],
  ["080", 80],
  ["65536", undefined],
  ["80:90", "80:90"],
  ["080:090", "80:90"],
  ["80:80", 80],
  ["90:80", undefined],
  ["80:65536", undefined],
  ["http", "http"],
  ["HTTP_1.2", "HTTP_1.2"],
  ["a b", undefined],
  ["", undefined],
  ["x".repeat(129), undefined],
  [true, undefined],
  [null, undefined],
];
for (const [value, expected] of ports) {
  test(`port ${JSON.stringify(value)?.slice(0, 20)} is ${expected ?? "none"}`, () =>
    equal(canonicalPort(value), expected));
}

const protocols: [unknown, unknown][] = [
  [6, 6],
  [256, undefined],
  ["47", 47],
  ["256", "256"],
  ["TCP", "TCP"],
  ["", ""],
  [[], undefined],
];
for (const [value, expected] of protocols) {
  test(`protocol ${JSON.stringify(value)} is ${expected ?? "none"}`, () =>
    equal(canonicalUint8OrText(value), expected));
}

const asNumbers: [unknown, unknown][] = [
  [64512, 64512],
  [4294967295, 4294967295],
  [4294967296, undefined],
  ["64512", 64512],
  ["1.10", 65546],
  ["65536.1", undefined],
  ["1.65536", undefined],
  ["1.2.3", undefined],
  ["", undefined],
  [-1, undefined],
];
for (const [value, expected] of asNumbers) {
  test(`AS number ${JSON.stringify(value)} is ${expected ?? "none"}`, () => equal(canonicalAsNumber(value), expected));
}

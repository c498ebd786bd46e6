import { equal } from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity } from "./quantity.ts";

const cases: { text: string; value: bigint | undefined }[] = [
  { text: "0", value: 0n },
  { text: "1500m", value: 2n },
  { text: "10M", value: 10_000_000n },
  { text: "1.5k", value: 1500n },
  { text: "2Gi", value: 2147483648n },
  { text: ".5", value: 1n },
  { text: "5.", value: 5n },
  { text: "+3", value: 3n },
  { text: "-2", value: -2n },
  { text: "1e3", value: 1000n },
  { text: "1E3", value: 1000n },
  { text: "2E", value: 2_000_000_000_000_000_000n },
  { text: "1e-30", value: 1n },
  { text: "1e999999999", value: 0n },
  { text: "100E", value: 0n },
  { text: "-12E", value: 0n },
  { text: "1e19", value: 0n },
  { text: "99999999999999999999", value: 7766279631452241919n },
  { text: "0018446744073709551617", value: 1n },
  { text: "100Ei", value: 9223372036854775807n },
  { text: "", value: undefined },
  { text: ".", value: 0n },
  { text: "-", value: 0n },
  { text: "k", value: 0n },
  { text: "e3", value: 0n },
  { text: "e", value: undefined },
  { text: "1 k", value: undefined },
  { text: "1K", value: undefined },
  { text: "1kk", value: undefined },
  { text: "0x10", value: undefined },
  { text: "9".repeat(1_000_000), value: undefined },
];
for (const { text, value } of cases) {
  test(`${JSON.stringify(text.slice(0, 20))} is ${value}`, () => equal(parseQuantity(text), value));
}

import { equal } from "node:assert/strict";
import test from "node:test";
import { fiveDigits, percent, usageTable } from "./usage-table.ts";

const numbers: { count: number; text: string }[] = [
  { count: 0, text: "0" },
  { count: 64, text: "64" },
  { count: 100, text: "100" },
  { count: 65536, text: "65536" },
  { count: 99999, text: "99999" },
  { count: 100000, text: "1e+05" },
  { count: 131072, text: "1.3107e+05" },
  { count: 8388608, text: "8.3886e+06" },
  { count: 16777216, text: "1.6777e+07" },
  { count: Number(2n ** 63n - 1n), text: "9.2234e+18" },
];
for (const { count, text } of numbers)
  test(`usage: ${count} is written as ${text}`, () => equal(fiveDigits(count), text));

const shares: { part: number; whole: number; rounded: number }[] = [
  { part: 1, whole: 65536, rounded: 0 },
  { part: 65535, whole: 65536, rounded: 100 },
  { part: 2, whole: 16, rounded: 12 },
  { part: 10, whole: 16, rounded: 62 },
  { part: 6, whole: 16, rounded: 38 },
  { part: 1, whole: 64, rounded: 2 },
  { part: 63, whole: 64, rounded: 98 },
];
for (const { part, whole, rounded } of shares) {
  test(`usage: ${part} of ${whole} are ${rounded} percent`, () => equal(percent(part, whole), rounded));
}

test("usage: a pool's blocks follow it, blocks without a pool come last, and both are left out unless asked for", () => {
  const counts = (cidr: string, total: bigint, inUse: bigint, reserved: bigint) => {
    return { cidr, total, inUse, reserved, free: total - inUse - reserved };
  };
  const blocks = [counts("10.1.0.4/30", 4n, 2n, 0n)];
  const usage = {
    pools: [
      { ...counts("10.128.0.0/9", 2n ** 23n, 0n, 65536n), blocks: [] },
      { ...counts("10.1.0.0/28", 16n, 2n, 4n), blocks },
    ],
    orphans: [counts("192.168.7.0/26", 64n, 1n, 0n)],
  };
  equal(
    usageTable(usage, { withBlocks: true }),
    `\
+----------+----------------+------------+------------+--------------+------------------+
| GROUPING | CIDR           | IPS TOTAL  | IPS IN USE | IPS RESERVED | IPS FREE         |
+----------+----------------+------------+------------+--------------+------------------+
| IP Pool  | 10.128.0.0/9   | 8.3886e+06 |     0 (0%) |   65536 (1%) | 8.3231e+06 (99%) |
| IP Pool  | 10.1.0.0/28    |         16 |    2 (12%) |      4 (25%) |         10 (62%) |
| Block    | 10.1.0.4/30    |          4 |    2 (50%) |       0 (0%) |          2 (50%) |
| Block    | 192.168.7.0/26 |         64 |     1 (2%) |       0 (0%) |         63 (98%) |
+----------+----------------+------------+------------+--------------+------------------+
`,
  );
  equal(usageTable(usage, { withBlocks: false }).includes("Block"), false);
});

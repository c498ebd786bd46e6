import { deepEqual, equal } from "node:assert/strict";
import { availableParallelism } from "node:os";
import { describe, test } from "node:test";
import { limitsWith, workerCount } from "./server-limits.ts";

test("the original's defaults", () => {
  deepEqual(limitsWith(), {
    handshakeTimeoutMs: 10_000,
    writeTimeoutMs: 120_000,
    pingIntervalMs: 10_000,
    pongTimeoutMs: 60_000,
    maxFallBehindMs: 300_000,
    newClientGraceMs: 300_000,
    batchingAgeMs: 10,
    maxInboundBytes: 1024 * 1024,
    maxHandshaking: 4096,
    maxMessageKvs: 100,
    maxConnections: 10_000,
    dropIntervalMs: 1000,
    shutdownTimeoutMs: 300_000,
    shutdownMaxIntervalMs: 1000,
  });
});

describe("the original's corrections", () => {
  const cases = [
    { name: "a pong timeout of at most two intervals becomes six", pongTimeoutMs: 20_000, expected: 60_000 },
    { name: "a longer one stays", pongTimeoutMs: 20_001, expected: 20_001 },
    { name: "none at all becomes six intervals", pongTimeoutMs: 0, expected: 60_000 },
  ];
  for (const { name, pongTimeoutMs, expected } of cases) {
    test(name, () => equal(limitsWith({ pongTimeoutMs }).pongTimeoutMs, expected));
  }
  test("a batching age of nothing becomes 100 ms", () => equal(limitsWith({ batchingAgeMs: 0 }).batchingAgeMs, 100));
});

const counts: { workers: number | "auto"; expected: number }[] = [
  { workers: "auto", expected: Math.min(8, Math.max(1, availableParallelism() - 1)) },
  { workers: 0, expected: 0 },
  { workers: 64, expected: 64 },
];
for (const { workers, expected } of counts) {
  test(`TYPHA_WORKERS=${workers} is ${workers === "auto" ? "one for each core but one, at most 8" : expected}`, () => {
    equal(workerCount({ workers }), expected);
  });
}

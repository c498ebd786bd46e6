import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { corrected, defaultFanoutLimits } from "./index.ts";

test("the original's defaults", () => {
  deepEqual(defaultFanoutLimits, {
    handshakeTimeoutMs: 10_000,
    writeTimeoutMs: 120_000,
    pingIntervalMs: 10_000,
    pongTimeoutMs: 60_000,
    maxFallBehindMs: 300_000,
    newClientGraceMs: 300_000,
    batchingAgeMs: 10,
    maxInboundBytes: 1024 * 1024,
    maxHandshaking: 4096,
  });
});

describe("the original's corrections", () => {
  const cases = [
    { name: "a pong timeout of at most two intervals becomes six", pongTimeoutMs: 20_000, corrected: 60_000 },
    { name: "a longer one stays", pongTimeoutMs: 20_001, corrected: 20_001 },
    { name: "none at all becomes six intervals", pongTimeoutMs: 0, corrected: 60_000 },
  ];
  for (const { name, pongTimeoutMs, corrected: expected } of cases) {
    test(name, () => equal(corrected({ ...defaultFanoutLimits, pongTimeoutMs }).pongTimeoutMs, expected));
  }
  test("a batching age of nothing becomes 100 ms", () => {
    equal(corrected({ ...defaultFanoutLimits, batchingAgeMs: 0 }).batchingAgeMs, 100);
  });
});

import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { type Candidate, chooseToShed, connectionTarget, jittered, shutdownIntervalMs } from "./index.ts";

describe("rebalance arithmetic", () => {
  const limits = { syncerTypes: 3, lowerLimit: 11, upperLimit: 101 };
  const cases: { typhas: number | undefined; nodes: number | undefined; max: number; reason: string }[] = [
    { typhas: 1, nodes: 10, max: 101, reason: "lone typha" },
    { typhas: 0, nodes: 10, max: 101, reason: "lone typha" },
    { typhas: 10, nodes: 10, max: 11, reason: "lower limit" },
    { typhas: 10, nodes: 500, max: 101, reason: "upper limit" },
    { typhas: 2, nodes: 500, max: 101, reason: "upper limit" },
    { typhas: 5, nodes: 100, max: 93, reason: "configured fraction" },
    { typhas: 5, nodes: 200, max: 101, reason: "upper limit" },
    { typhas: undefined, nodes: 200, max: 101, reason: "error" },
    { typhas: 5, nodes: undefined, max: 101, reason: "error" },
  ];
  for (const { typhas, nodes, max, reason } of cases) {
    test(`${typhas} servers, ${nodes} nodes: ${max} (${reason})`, () => {
      deepEqual(connectionTarget({ typhas, nodes, ...limits }), { max, reason });
    });
  }

  test("with the original's defaults", () => {
    const defaults = { syncerTypes: 4, lowerLimit: 400, upperLimit: 10_000 };
    equal(connectionTarget({ typhas: 3, nodes: 100, ...defaults }).max, 400);
    equal(connectionTarget({ typhas: 4, nodes: 1000, ...defaults }).max, 4 * (1 + 400));
  });
});

describe("who is asked to leave", () => {
  const syncers = ["felix", "bgp", "tunnel-ip-allocation", "node-status"] as const;
  let lastId = 0n;
  const nextId = (): bigint => {
    lastId += 1n;
    return lastId;
  };
  const nodeOf = (node: string, count = 4, connectedAtMs = 0): Candidate[] =>
    syncers.slice(0, count).map((syncer) => ({ id: nextId(), node, syncer, connectedAtMs }));
  const random = () => 0.5;

  test("whole nodes, as long as one fits", () => {
    const candidates = [...nodeOf("a"), ...nodeOf("b"), ...nodeOf("c"), ...nodeOf("d")];
    const chosen = new Set(chooseToShed(candidates, 8, random));
    equal(chosen.size, 8);
    const touched = new Set(candidates.filter((candidate) => chosen.has(candidate.id)).map(({ node }) => node));
    equal(touched.size, 2);
  });

  test("exactly as many as asked for, even when nodes do not fit", () => {
    const candidates = [...nodeOf("a"), ...nodeOf("b")];
    for (let excess = 0; excess <= 8; excess += 1) equal(chooseToShed(candidates, excess, random).length, excess);
  });

  test("first the elder of two connections of one node for one syncer", () => {
    const old = nodeOf("a", 1, 1);
    const candidates = [...nodeOf("a", 1, 2), ...old, ...nodeOf("b"), ...nodeOf("c")];
    deepEqual(chooseToShed(candidates, 1, random), [old[0]?.id]);
  });

  test("connections that have not said who they are count as single ones", () => {
    const unnamed: Candidate = { id: nextId(), node: "", syncer: undefined, connectedAtMs: 0 };
    deepEqual(chooseToShed([unnamed], 1, random), [unnamed.id]);
  });

  test("nobody when there is no excess", () => {
    deepEqual(chooseToShed(nodeOf("a"), -3, random), []);
  });
});

describe("shutdown", () => {
  const cases = [
    { name: "300 s and 1 s with few clients: one a second", timeoutMs: 300_000, connections: 5, intervalMs: 1000 },
    { name: "2.5 s and five clients: about one each half second", timeoutMs: 2500, connections: 5, intervalMs: 475 },
    { name: "300 s and 1,000 clients: all within the time", timeoutMs: 300_000, connections: 1000, intervalMs: 285 },
  ];
  for (const { name, timeoutMs, connections, intervalMs } of cases) {
    test(name, () => equal(shutdownIntervalMs({ timeoutMs, connections, maxIntervalMs: 1000 }), intervalMs));
  }
});

test("jitter is drawn anew within its share", () => {
  for (let draw = 0; draw < 100; draw += 1) {
    const delayMs = jittered(1000, 0.1, Math.random);
    ok(delayMs >= 1000 && delayMs < 1100);
  }
});

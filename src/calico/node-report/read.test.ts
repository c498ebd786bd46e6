import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { readNodeReport, readPolicyHits, readRouteRows } from "./index.ts";
import type { NodeReport } from "./report.ts";

const report: NodeReport = {
  node: "a",
  version: "cattail v1",
  startedAtMs: 1_794_804_008_712,
  live: true,
  ready: false,
  components: [{ name: "bird", isLive: true, isReady: false, detail: "no session" }],
  bgp: [
    {
      ...{ family: 6, silent: "", version: "2.0.12", routerId: "192.0.2.1", bootTime: "t", reconfiguredTime: "u" },
      sessions: [{ address: "fd00::1", kind: "Mesh", state: "Active", since: "09:00:00" }],
    },
  ],
  routes: { right: 3, wrong: 1, first: "10.0.0.0/26 of b: missing" },
  audit: { atMs: 5, findings: 1, says: ["LEAK: one"] },
};

test("what one writes the other reads", () => deepEqual(readNodeReport(JSON.stringify(report)), report));

describe("what a node says is not believed", () => {
  const refused: { name: string; body: string; says: RegExp }[] = [
    { name: "no JSON", body: "<html>", says: /no JSON/ },
    { name: "a list", body: "[]", says: /no JSON object/ },
    { name: "no components", body: "{}", says: /no list components/ },
    { name: "components that are none", body: '{"components":{"length":9}}', says: /no list components/ },
  ];
  for (const { name, body, says } of refused) test(`refused: ${name}`, () => throws(() => readNodeReport(body), says));

  test("texts are cut and on one line, lists end, numbers are numbers", () => {
    const read = readNodeReport(
      JSON.stringify({
        node: `a${"b".repeat(10_000)}`,
        version: "x\u001b[2J\ny",
        startedAtMs: "soon",
        components: Array.from({ length: 10_000 }, () => 7),
      }),
    );
    deepEqual([read.node.length, read.components.length, read.startedAtMs], [500, 100, 0]);
    equal(read.version, "x\\u001b[2J\\u000ay");
    deepEqual(read.components[0], { name: "", isLive: false, isReady: false, detail: "" });
  });

  test("a route in a state that nobody knows is wrong, and a count below zero is none", () => {
    equal(readRouteRows('[{"state":"splendid"}]')[0]?.state, "wrong");
    deepEqual(readPolicyHits('[{"packets":-5,"bytes":1e999,"direction":"up","rule":null}]'), [
      { policy: "", rule: 0, direction: "", action: "", packets: 0, bytes: 0, reason: "" },
    ]);
  });
});

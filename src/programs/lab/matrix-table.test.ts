// The matrix of pings as it is printed: wide, and in a terminal that is narrower.
import { deepEqual, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { matrixTable, type PingRow } from "./matrix-table.ts";

const row = (from: string, to: string, more: Partial<PingRow> = {}): PingRow => ({
  kind: "across nodes",
  from,
  fromNode: from === "a" ? "cka001" : "cka002",
  to,
  toNode: to === "a" ? "cka001" : "cka002",
  address: to === "a" ? "10.244.62.64" : "10.244.31.0",
  sent: 3,
  received: 3,
  medianMs: 0.25,
  ...more,
});
const lost = row("b", "a", { received: 0, says: "ENETUNREACH" });

test("wide: addresses across, times with their unit, what the kernel said", () => {
  deepEqual(matrixTable([row("a", "b"), lost], { isColoured: false }).split("\n"), [
    "from / to   10.244.62.64  10.244.31.0",
    "a (cka001)  -             0.25 ms",
    "b (cka002)  ENETUNREACH   -",
    "",
    "1 of 2 pings have no answer: across nodes 1/2",
  ]);
});

test("a lab without pods says so", () => {
  match(matrixTable([], { isColoured: false }), /^The lab has no pods to ping: cattail lab pod add NAME$/);
});

test("narrow: numbers across", () => {
  deepEqual(
    matrixTable([row("a", "b"), lost], { isColoured: false, columns: 36 })
      .split("\n")
      .slice(0, 3),
    ["from / to, ms  1     2", "1 a (cka001)   -     0.25", "2 b (cka002)   lost  -"],
  );
});

test("the guide's lab fits into 80 columns", () => {
  const pods = [
    "pingtest-1",
    "pingtest-2",
    "pingtest-3",
    "pingtest-4",
    "pingtest-ippool-2",
    "cka001",
    "cka002",
    "cka003",
  ];
  const nodeOf = (name: string) => (name.startsWith("cka") ? name : "cka001");
  const rows = pods.flatMap((from) =>
    pods
      .filter((to) => to !== from)
      .map((to) => row(from, to, { fromNode: nodeOf(from), toNode: nodeOf(to), medianMs: 10.25 })),
  );
  const lines = matrixTable(rows, { isColoured: false, columns: 80 }).split("\n").slice(0, 9);
  ok(
    lines.every((line) => line.length <= 80),
    lines.join("\n"),
  );
  match(lines[5] ?? "", /^5 pingtest-ippool-2 \(cka001\)/);
});

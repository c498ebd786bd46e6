import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { Update } from "../../typha/client/index.ts";
import { ageText, sizeText, WatchKeys } from "./watch-keys.ts";
import { linesView, statsView, tableView, type WatchView } from "./watch-views.ts";

function set(path: string, value: string, isNew = true): Update {
  return { is: "set", path, value, revision: "1", v3ResourceVersion: "", isNew };
}

const told: Update[] = [
  { is: "status", status: 1 },
  set("/calico/v1/config/a", "12345"),
  set("/calico/v1/config/b", "1"),
  set("/calico/resources/v3/projectcalico.org/nodes/n1", "{}"),
  { is: "status", status: 2 },
  set("/calico/v1/config/a", "x".repeat(2500), false),
  { is: "delete", path: "/calico/v1/config/b", why: "deleted" },
];

function drawn(
  make: (screen: { columns: number; rows: number; write(text: string): void }) => WatchView,
  columns = 80,
): string {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const view = make({ columns, rows: 20, write });
  for (const [index, update] of told.entries()) view.take(update, index * 1000);
  view.tick(65_000);
  view.close(66_000);
  return text;
}

function tableLines(columns: number): string[] {
  const text = drawn((screen) => tableView(screen, { title: "t", nowMs: 0 }), columns);
  const last = text.slice(text.lastIndexOf("t: in sync"));
  const lines = last.replaceAll("\u001b[K", "").replace("\u001b[J", "").trimEnd().split("\n");
  equal(
    lines.find((line) => line.length > columns),
    undefined,
  );
  return lines;
}

test("the table shows what changed last first, with type, size and age, within the terminal's width", () => {
  const [head, header, ...rows] = tableLines(80);
  match(head ?? "", /^t: in sync, 2 keys, 2\.5 kB, /);
  match(header ?? "", /^TYPE +SIZE +AGE {2}KEY$/);
  deepEqual(
    rows.map((row) => row.trim().split(/ +/).slice(0, -1).join(" ")),
    ["GlobalConfig deleted 1m0s", "GlobalConfig 2.5 kB 1m1s", "Node 2 B 1m3s"],
  );
});

test("a narrow terminal gets no types, and of a long key its end", () => {
  const [, header, ...rows] = tableLines(44);
  match(header ?? "", /^ +SIZE +AGE {2}KEY$/);
  match(rows.at(-1) ?? "", /^ +2 B +1m3s {2}….*\.org\/nodes\/n1$/);
  match(tableLines(12)[1] ?? "", /…$/);
});

test("elsewhere every change is a line, and so is every change of status", () => {
  const lines = drawn(linesView).trimEnd().split("\n");
  deepEqual(
    lines.map((line) => line.slice(10).split(/ +/).slice(0, 2).join(" ")),
    [
      "receiving the",
      "new GlobalConfig",
      "new GlobalConfig",
      "new Node",
      "in sync:",
      "updated GlobalConfig",
      "deleted GlobalConfig",
    ],
  );
});

test("what a server puts into a key does not reach the terminal as more than text", () => {
  for (const make of [
    linesView,
    (screen: Parameters<typeof linesView>[0]) => tableView(screen, { title: "t", nowMs: 0 }),
  ]) {
    let text = "";
    const write = (more: string) => {
      text += more;
    };
    const view = make({ columns: 120, rows: 20, write });
    view.take(set("/calico/v1/config/\u001b]0;title\u0007\n", "1"), 0);
    view.take({ is: "status", status: 2 }, 0);
    view.tick(1000);
    match(text, /config\/\\u001b\]0;title\\u0007\\u000a/);
    deepEqual([text.includes("\u001b]"), text.includes("\u0007")], [false, false]);
  }
});

test("stats are totals, and only in a terminal is there anything before them", () => {
  const text = drawn((screen) => statsView(screen, { isTerminal: false, title: "t", nowMs: 0 }));
  match(text, /^KIND +KEYS +BYTES\n/);
  match(text, /\nGlobalConfig +1 +2500\n/);
  match(text, /\nall +2 +2502\nin sync; 5 updates in 66\.0 s/);
  doesNotMatch(text, /\r/);
});

test("deleted keys are kept to be shown, but not without end", () => {
  const keys = new WatchKeys();
  for (let index = 0; index < 5000; index++) {
    keys.take(set(`/calico/v1/config/${index}`, "1"), index);
    keys.take({ is: "delete", path: `/calico/v1/config/${index}`, why: "deleted" }, index);
  }
  deepEqual([keys.count, keys.bytes, keys.recent.size], [0, 0, 200]);
});

test("sizes and ages are short", () => {
  deepEqual([0, 999, 1000, 999_949, 1_000_000].map(sizeText), ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB"]);
  deepEqual([-5, 0, 59_999, 60_000, 3_600_000, 90_000_000].map(ageText), ["0s", "0s", "59s", "1m0s", "1h0m", "25h0m"]);
});

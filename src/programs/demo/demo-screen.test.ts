import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { DemoScreen } from "./demo-screen.ts";

test("what the server warns of is shown, connections' numbers included", () => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream; // all it uses
  new DemoScreen(out).log.warn("client is far behind", { connection: 18_446_744_073_709_551_615n, lagMs: 5 });
  deepEqual(written, ['client is far behind {"connection":"18446744073709551615","lagMs":5}\n']);
});

const introduced = (nodes: { all: number; connected: number; connections: number }): string => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream; // all it uses
  new DemoScreen(out).introduce({ address: "127.0.0.1:5473", folder: "/x", nodes, commandName: "cattail" });
  return written.join("");
};

test("the introduction says why there are more connections than nodes", () => {
  match(
    introduced({ all: 50, connected: 49, connections: 58 }),
    /^ {2}49 of the 50 nodes as clients;[\s\S]*^ {2}58 connections: a node has one for each data set it follows/m,
  );
});

test("the line of a terminal has nodes and connections, the dashboard's rate, and fits 80 columns", (context) => {
  const written: string[] = [];
  const out = {
    isTTY: true,
    columns: 80,
    write: (text: string) => written.push(text),
  } as unknown as NodeJS.WriteStream;
  const screen = new DemoScreen(out);
  let nowMs = 1000;
  context.mock.method(performance, "now", () => nowMs);
  // As many as the demo has by itself; it replaces a pod, which is two updates, twenty times a second.
  for (let second = 0; second <= 20; second++, nowMs += 1000) {
    const nodes = { nodes: 49, inSync: 49, connections: 58, updates: second * 1900 };
    screen.status({ taken: second * 38, keys: 1166, nodes });
  }
  const line = written.at(-1) ?? "";
  equal(line, "49 of 49 nodes in sync (58 connections), 1166 keys, 38 updates/s in, 1900/s out");
  ok(line.length < 80);
});

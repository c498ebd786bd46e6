// docs/reference/protocol.md names every message and every code, and no code that is not there.
import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { closeSeverity, messageNames } from "../../src/typha/wire/index.ts";

const page = readFileSync("docs/reference/protocol.md", "utf8");

test("the protocol page lists the codes that close a connection, and no others", () => {
  const listed = [...page.matchAll(/^\| (WIRE_[A-Z_]+) \|/gm)].map(([, code]) => code);
  deepEqual(listed.toSorted(), Object.keys(closeSeverity).sort());
});

test("the protocol page lists the codes of the snappy decoder, and no others", () => {
  const listed = [...page.matchAll(/^\| (SNAPPY_[A-Z_]+) \|/gm)].map(([, code]) => code);
  const source = readFileSync("src/base/snappy/snappy-error.ts", "utf8");
  const raised = [...source.matchAll(/\| "(SNAPPY_[A-Z_]+)"/g)].map(([, code]) => code);
  ok(raised.length > 0);
  deepEqual(listed.toSorted(), raised.toSorted());
});

test("the protocol page lists every message", () => {
  for (const name of Object.values(messageNames)) ok(page.includes(`| ${name.split(".").at(-1)} |`), name);
});

// The codes in docs/reference/errors.md are the codes in the source, both ways.
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fanoutEndCodes } from "../../src/typha/fanout/index.ts";

const page = readFileSync("docs/reference/errors.md", "utf8");
const listed = [...page.matchAll(/^\| `([A-Z_0-9]+)` \|/gm)].map(([, code = ""]) => code);
// tools/binary is part of the single executable, which users run.
const sources = globSync(["src/**/*.ts", "tools/binary/**/*.ts"]).filter((file) => !file.endsWith(".test.ts"));

test("every code that an error can carry is on the page, and none besides", () => {
  ok(sources.length > 100, "the sources were not found");
  const thrown = sources.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/CattailError\(\s*"([A-Z_0-9]+)"/g)].map(([, code = ""]) => code),
  );
  deepEqual(listed.sort(), [...new Set([...thrown, ...fanoutEndCodes])].sort());
});

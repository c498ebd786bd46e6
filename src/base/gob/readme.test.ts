// The examples of README.md run as they stand, against this folder, and it explains every code.
import { deepEqual, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gobErrorCodes } from "./index.ts";

const here = import.meta.dirname;
const readme = readFileSync(join(here, "README.md"), "utf8");
const examples = [...readme.matchAll(/^(#+ .*)$|```ts\n([\s\S]*?)```/gm)];

let section = "";
for (const [, heading, code] of examples) {
  if (heading !== undefined) section = heading.replace(/^#+ /, "");
  if (code === undefined) continue;
  test(`the example under "${section}" runs`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "gob-readme-"));
    try {
      const file = join(folder, "example.ts");
      const index = pathToFileURL(join(here, "index.ts")).href;
      const runnable = code.replaceAll('"cattail/gob"', JSON.stringify(index));
      writeFileSync(file, `import assert from "node:assert/strict";\n${runnable}`);
      await import(pathToFileURL(file).href);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test("there are examples", () => ok(examples.filter(([, , code]) => code !== undefined).length >= 6));

test("the table of codes is the one in the source", () => {
  const rows = [...readme.matchAll(/^\| `(GOB_[A-Z_]+)` +\| (.*?) +\|$/gm)].map(([, code, says]) => [code, says]);
  deepEqual(rows, Object.entries(gobErrorCodes));
});

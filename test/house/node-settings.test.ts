// What docs/reference/node-settings.md says has no effect is what nothing reads, and the other way round.
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { settingsTable, withoutEffect } from "../../src/node/settings/index.ts";

test("a FELIX_ setting is read by something, or the page says that it has no effect", () => {
  const tables = /^src\/node\/settings\/(?!datastore-options)/;
  const sources = globSync(["src/node/**/*.ts", "src/programs/node/**/*.ts", "src/calico/policy/**/*.ts"])
    .filter((file) => !file.endsWith(".test.ts") && !tables.test(file))
    .map((file) => readFileSync(file, "utf8"));
  ok(sources.length > 100, "the sources were not found");
  const isRead = (name: string) => sources.some((text) => text.includes(`"${name}"`));
  deepEqual(
    Object.keys(settingsTable)
      .filter((name) => !isRead(name))
      .sort(),
    Object.keys(withoutEffect).sort(),
  );
});

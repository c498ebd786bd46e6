import { equal, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeStartupPage } from "./page.ts";
import { readNodeSettings } from "./read.ts";

test("docs/reference/node-startup.md is what npm run docs writes", () => {
  equal(readFileSync("docs/reference/node-startup.md", "utf8"), nodeStartupPage());
});

test("a variable that no step can use stops the start, by name", () => {
  throws(() => readNodeSettings({ FELIX_HEALTHPORT: "99099" }), /FELIX_HEALTHPORT \(environment\) is "99099"/);
});

import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kindsPage } from "./kinds-page.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () => {
  equal(readFileSync("docs/reference/kinds.md", "utf8"), kindsPage());
});

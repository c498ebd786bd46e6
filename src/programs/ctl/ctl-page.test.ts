import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ctlPage } from "./ctl-page.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () => {
  equal(readFileSync("docs/reference/ctl.md", "utf8"), ctlPage());
});

import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { metricsPage } from "./metrics-page.ts";

test("the reference page is fresh: npm run docs", () => {
  equal(readFileSync("docs/reference/metrics.md", "utf8"), metricsPage());
});

import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeMetricsPage } from "./metrics-page.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () =>
  equal(readFileSync("docs/reference/node-metrics.md", "utf8"), nodeMetricsPage()));

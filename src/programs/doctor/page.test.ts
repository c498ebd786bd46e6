import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { doctorPage } from "./page.ts";

test("the reference page is fresh: npm run docs", () => {
  equal(readFileSync("docs/reference/doctor.md", "utf8"), doctorPage());
});

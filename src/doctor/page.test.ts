import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { doctorPage } from "./page.ts";

test("docs/reference/doctor.md is the catalogue", () => {
  const fresh = "node -e 'import(\"./src/doctor/index.ts\").then((d) => console.log(d.doctorPage().trimEnd()))'";
  equal(readFileSync("docs/reference/doctor.md", "utf8"), doctorPage(), `make it anew with: ${fresh}`);
});

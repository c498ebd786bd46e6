// docs/reference/ipam.md has a row for each finding of the audit, and says of each whether it is mended.
import { deepEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findingCodes } from "../../src/calico/ipam/index.ts";

test("the page about addresses has exactly the findings that the audit has", () => {
  const page = readFileSync("docs/reference/ipam.md", "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| .+ \| (?:yes|no)[:, ]?.* \|$/gm)].map(([, code]) => code);
  deepEqual(rows.sort(), Object.keys(findingCodes).sort());
});

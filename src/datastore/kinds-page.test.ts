import { equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { kindsPage } from "./kinds-page.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () => {
  equal(readFileSync("docs/reference/kinds.md", "utf8"), kindsPage());
});

test("the page's role is YAML that names every kind of a group in one rule", () => {
  const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(kindsPage()) ?? [];
  const role: { rules: { apiGroups: string[]; resources: string[] }[] } = parse(yaml);
  equal(role.rules.find((rule) => rule.apiGroups[0] === "crd.projectcalico.org")?.resources.includes("tiers"), true);
});

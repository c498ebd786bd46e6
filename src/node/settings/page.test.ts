import { equal, match, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { silentLog } from "../../base/lib/index.ts";
import { NodeLiveSettings } from "./live-settings.ts";
import { formatNodeSettings, nodeSettingsPage } from "./page.ts";
import { settingsTable } from "./table.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () =>
  equal(readFileSync("docs/reference/node-settings.md", "utf8"), nodeSettingsPage()));

test("the page names every setting, and says something of each", () => {
  const page = nodeSettingsPage();
  for (const [name, { says }] of Object.entries(settingsTable)) {
    ok(page.includes(`| \`FELIX_${name.toUpperCase()}\` | \`${name}\` |`), name);
    ok(says.length > 0, name);
  }
});

test("each value is shown with where it came from, those that were set first", () => {
  const sources = { environment: { VXLANPORT: "1", LogPrefix: "none" }, file: { VXLANPort: "2" } };
  const text = formatNodeSettings(new NodeLiveSettings(sources, { checks: { exists: () => true }, log: silentLog }));
  match(text.split("\n")[0] ?? "", /^FELIX_LOGPREFIX +"" {2}\(environment\)$/);
  match(text, /^FELIX_VXLANPORT +1 {2}\(environment\)$/m);
  match(text, /^FELIX_ROUTEREFRESHINTERVAL +90 {2}\(default\)$/m);
});

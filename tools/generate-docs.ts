// Writes the reference pages that are made from tables in the source. A test beside each table compares the page with
// what would be written now, so a page that was forgotten fails the build.
//   npm run docs
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { kindsPage } from "../src/calico/kinds/index.ts";
import { nodeSettingsPage } from "../src/node/settings/index.ts";
import { nodeStartupPage } from "../src/node/startup/index.ts";
import { ctlPage } from "../src/programs/ctl/index.ts";
import { doctorPage } from "../src/programs/doctor/index.ts";
import { nodeMetricsPage } from "../src/programs/node/metrics-page.ts";
import { metricsPage } from "../src/typha/server/index.ts";
import { settingsPage } from "../src/typha/settings/index.ts";
import { libraryPage } from "./library-page.ts";

const pages: { path: string; make(): string }[] = [
  { path: "docs/reference/ctl.md", make: ctlPage },
  { path: "docs/reference/doctor.md", make: doctorPage },
  { path: "docs/reference/kinds.md", make: kindsPage },
  { path: "docs/reference/library.md", make: libraryPage },
  { path: "docs/reference/metrics.md", make: metricsPage },
  { path: "docs/reference/node-metrics.md", make: nodeMetricsPage },
  { path: "docs/reference/node-settings.md", make: nodeSettingsPage },
  { path: "docs/reference/node-startup.md", make: nodeStartupPage },
  { path: "docs/reference/settings.md", make: settingsPage },
];

for (const { path, make } of pages) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, make());
  console.log(path);
}

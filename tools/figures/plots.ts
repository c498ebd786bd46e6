// Makes the plots, and the tables of docs/performance.md and docs/reliability.md, from the newest results:
//   npm run plots [-- --from FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { madeFrom } from "./pages.ts";
import { newestResults } from "./sitting.ts";

const { values: flags } = parseArgs({ options: { from: { type: "string" } } });
for (const [file, content] of madeFrom(newestResults(flags.from))) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  console.log(file);
}

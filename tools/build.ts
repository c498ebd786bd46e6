// Builds what is published: JavaScript and declarations of src/ (tsc), the dashboard's page (esbuild) with the licences of
// what is in it, and a note of which build it is. Everything lands in dist/; `npm pack` takes it from there. The same commit
// gives the same bytes wherever it is built: test/system/package.test.ts.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { bundlePageWithInputs } from "./bundle-page.ts";
import { buildNote } from "./release/build-note.ts";
import { notices, packagesRead } from "./release/notices.ts";

const root = process.cwd();
rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
// A server has several worker threads; bundled, each leaves out the schemas it never uses: 14 MB.
buildSync({
  entryPoints: ["src/typha/server/threads/worker.ts"],
  outfile: "dist/typha/server/threads/worker.js",
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  allowOverwrite: true,
});
mkdirSync("dist/web", { recursive: true });
const { files, inputs } = await bundlePageWithInputs(root);
for (const [name, content] of files) writeFileSync(join("dist/web", name), content);
writeFileSync("dist/licences.txt", notices(packagesRead(inputs)));
const note = buildNote();
writeFileSync("dist/build.json", `${JSON.stringify(note)}\n`);
console.log(`built dist/ (${note.version}, ${note.commit})`);

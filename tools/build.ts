// Builds what is published: the programs and the libraries, bundled (esbuild), the libraries' declarations (tsc), the
// dashboard's page, the licences of what was bundled, and a note of which build it is. Everything lands in dist/; `npm pack` runs this first and takes it from there. The same commit
// gives the same bytes wherever it is built: test/system/package.test.ts.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundlePageWithInputs } from "./bundle-page.ts";
import { bundlePrograms, bundleWhole } from "./bundle-programs.ts";
import { buildNote } from "./release/build-note.ts";
import { notices, packagesRead } from "./release/notices.ts";

const root = process.cwd();
rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
const libraries = ["src/typha/client/index.ts", "src/base/gob/index.ts"];
const read = await bundlePrograms(["src/programs/main/main.ts", ...libraries], "dist");
// By itself: a server has several worker threads, and each leaves out what it never uses: 14 MB.
read.push(...(await bundlePrograms(["src/typha/server/threads/worker.ts"], "dist")));
// By itself and whole: a person waits for it, and files cost more than code.
read.push(...(await bundleWhole("src/programs/ctl/process-console.ts", "dist/programs/ctl/ctl.cjs")));
const digest = createHash("sha256").update(readFileSync("dist/programs/ctl/ctl.cjs")).digest("hex");
const startCtl = { in: "tools/package/start-ctl.ts", out: "programs/ctl/process-console" };
await bundlePrograms([startCtl], "dist", { CTL_DIGEST: JSON.stringify(digest) });
mkdirSync("dist/web", { recursive: true });
const { files, inputs } = await bundlePageWithInputs(root);
for (const [name, content] of files) writeFileSync(join("dist/web", name), content);
writeFileSync("dist/licences.txt", notices(packagesRead([...inputs, ...read])));
const note = buildNote();
writeFileSync("dist/build.json", `${JSON.stringify(note)}\n`);
console.error(`built dist/ (${note.version}, ${note.commit})`);

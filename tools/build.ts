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
// By themselves and whole: a person or a pod waits for them, and files cost more than code.
for (const { of, name, at, digestName } of [
  { of: "ctl/process-console", name: "ctl", at: "ctl/process-console", digestName: "CTL_DIGEST" },
  { of: "node/starting/start", name: "node", at: "node/start", digestName: "NODE_DIGEST" },
]) {
  const kept = `programs/${name}/${name}.cjs`;
  read.push(...(await bundleWhole(`src/programs/${of}.ts`, `dist/${kept}`)));
  const digest = createHash("sha256")
    .update(readFileSync(`dist/${kept}`))
    .digest("hex");
  const entry = { in: `tools/package/start-${name}.ts`, out: `programs/${at}` };
  await bundlePrograms([entry], "dist", { [digestName]: JSON.stringify(digest) });
}
mkdirSync("dist/web", { recursive: true });
const { files, inputs } = await bundlePageWithInputs(root);
for (const [name, content] of files) writeFileSync(join("dist/web", name), content);
writeFileSync("dist/licences.txt", notices(packagesRead([...inputs, ...read])));
const note = buildNote();
writeFileSync("dist/build.json", `${JSON.stringify(note)}\n`);
console.error(`built dist/ (${note.version}, ${note.commit})`);

// Builds what is published: JavaScript and declarations of src/ (tsc), the dashboard's page (esbuild), and a note of
// which build it is. Everything lands in dist/; `npm pack` takes it from there.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { bundlePage } from "./bundle-page.ts";

const root = process.cwd();
rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
// A server has several worker threads; bundled, each leaves out the schemas it never uses: 14 MB.
buildSync({
  entryPoints: ["src/server/worker.ts"],
  outfile: "dist/server/worker.js",
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  allowOverwrite: true,
});
mkdirSync("dist/web", { recursive: true });
for (const [name, content] of await bundlePage(root)) writeFileSync(join("dist/web", name), content);
writeFileSync("dist/build.json", `${JSON.stringify({ version: `v${packageVersion()}`, commit: commit() })}\n`);
console.log(`built dist/ (${commit()})`);

function packageVersion(): string {
  return (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version; // our own file
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "unknown"; // built from an archive
  }
}

// A copy of what building needs, in a folder of its own: other tests read this checkout meanwhile, and what is built must
// not depend on where it is built. It is no git checkout, so it says which commit it is by CATTAIL_COMMIT.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const needed = [
  "src",
  "web",
  "tools",
  "bin",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
];

export const copiedCommit = "0123456789ab";

/** A second copy is made from the first: somebody may be writing in the checkout. */
export function copyCheckout(folder: string, from = "."): void {
  mkdirSync(folder, { recursive: true });
  for (const name of needed) cpSync(join(from, name), join(folder, name), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
}

/** Runs one of the copy's own tools there. */
export function runTool(folder: string, tool: string, ...flags: string[]): void {
  const env = { ...process.env, CATTAIL_COMMIT: copiedCommit };
  execFileSync(process.execPath, [tool, ...flags], { cwd: folder, env, stdio: "pipe" });
}

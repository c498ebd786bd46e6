// Which build this is: what tools/build.ts wrote beside the built files, or, in a checkout, what package.json and git say.
import { existsSync, readFileSync } from "node:fs";

declare const CATTAIL_BUILD: Build | undefined; // set by the bundler that makes the single executable

export type Build = { readonly version: string; readonly commit: string };

export function build(): Build {
  return noted() ?? { version: packageVersion(), commit: commit() };
}

/** The version alone, for which nobody has to wait for git. */
export function version(): string {
  return noted()?.version ?? packageVersion();
}

function noted(): Build | undefined {
  if (typeof CATTAIL_BUILD !== "undefined") return CATTAIL_BUILD;
  const note = new URL("../../build.json", import.meta.url);
  return existsSync(note) ? (JSON.parse(readFileSync(note, "utf8")) as Build) : undefined; // written by tools/build.ts
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return `v${(JSON.parse(text) as { version: string }).version}`; // our own package.json
}

function commit(): string {
  try {
    // Loaded late: what is built needs no git.
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    const folder = new URL("../../..", import.meta.url).pathname;
    const options = { encoding: "utf8", stdio: "pipe" } as const;
    return execFileSync("git", ["-C", folder, "rev-parse", "--short=12", "HEAD"], options).trim();
  } catch {
    return "unknown"; // no git, or not a checkout
  }
}

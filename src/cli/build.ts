// Which build this is. The build script (tools/build.ts) replaces the constant; a checkout asks its own package.json
// and git, and says "unknown" where neither is there.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

declare const CATTAIL_BUILD: { version: string; commit: string } | undefined;

export type Build = { readonly version: string; readonly commit: string };

export function build(): Build {
  if (typeof CATTAIL_BUILD !== "undefined") return CATTAIL_BUILD;
  return { version: `v${packageVersion()}`, commit: commit() };
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version; // our own package.json
}

function commit(): string {
  try {
    const folder = new URL("../..", import.meta.url).pathname;
    return execFileSync("git", ["-C", folder, "rev-parse", "--short=12", "HEAD"], {
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  } catch {
    return "unknown";
  }
}

// Which build this is, for `cattail version` of what was built: the version stands in package.json and nowhere else.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export function buildNote(): { version: string; commit: string } {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }; // our own file
  return { version: `v${version}`, commit: commit() };
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return process.env.CATTAIL_COMMIT ?? "unknown"; // built from an archive, or in an image without git
  }
}

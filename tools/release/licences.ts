// Which licences come with the dependencies, and whether each is on the list.
//   npm run licences     (also a step of `npm run check` and `npm test`)
// What reaches users and what stays with developers are judged and reported apart: a package of the first sort is handed
// on by everybody who hands on Cattail.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { developmentPackages, type LockedPackage, readLockfile, runtimePackages } from "./lockfile.ts";

// Permissive licences that ask for no more than their own text to be passed on; dist/licences.txt does that.
const forUsers = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0", "Unlicense"];
// MPL-2.0 asks for the source of its own files when they are handed on; axe-core is used in a test, and never handed on.
const forDevelopers = [...forUsers, "MPL-2.0"];

export type Finding = { readonly name: string; readonly licence: string; readonly isAllowed: boolean };

/** An SPDX expression: every AND must be allowed, one OR is enough. */
export function isAllowed(expression: string, allowed: readonly string[]): boolean {
  const alternatives = expression.replaceAll(/[()]/g, " ").split(/\sOR\s/);
  return alternatives.some((each) => each.split(/\sAND\s/).every((id) => allowed.includes(id.trim())));
}

export function judge(packages: readonly LockedPackage[], allowed: readonly string[], root = "."): Finding[] {
  return packages.map((locked) => {
    const licence = installedLicence(join(root, locked.path)) ?? locked.licence ?? "unknown";
    return { name: `${locked.name}@${locked.version}`, licence, isAllowed: isAllowed(licence, allowed) };
  });
}

/** What the package itself says; undefined where it is not installed because it is for another kind of machine. */
function installedLicence(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const said: unknown = JSON.parse(readFileSync(file, "utf8")).license;
  return typeof said === "string" ? said : "unknown";
}

if (import.meta.main) {
  const lock = readLockfile();
  const groups = [
    { says: "what users get", findings: judge(runtimePackages(lock), forUsers) },
    { says: "what only developers get", findings: judge(developmentPackages(lock), forDevelopers) },
  ];
  for (const { says, findings } of groups) report(says, findings);
}

function report(says: string, findings: readonly Finding[]): void {
  const counts = Map.groupBy(findings, ({ licence }) => licence);
  const parts = [...counts].sort(([, a], [, b]) => b.length - a.length).map(([id, { length }]) => `${length} ${id}`);
  console.log(`${says}: ${findings.length} packages: ${parts.join(", ")}`);
  for (const { name, licence, isAllowed } of findings) {
    if (isAllowed) continue;
    console.error(`${name} is under "${licence}", which is not on the list in tools/release/licences.ts`);
    process.exitCode = 1;
  }
  if (findings.length === 0) process.exitCode = 1; // looked at nothing, so nothing was found
}

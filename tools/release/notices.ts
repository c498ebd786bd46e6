// The licence texts of what a bundle contains: bundling leaves them out, and every one of them asks to be passed on. The
// list is taken from what the bundler read, so that no package can be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The packages' folders, from the files that a bundler says it read: node_modules/a, node_modules/@s/b. */
export function packagesRead(files: Iterable<string>): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function notices(folders: readonly string[]): string {
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name: string;
      version: string;
      license: string; // licences.ts has seen that it is there
    };
    return `${name} ${version} (${license})\n\n${licenceText(folder)}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  return `This product contains the following packages, each under its own licence.\n${["", ...texts].join(rule)}`;
}

function licenceText(folder: string): string {
  const files = readdirSync(folder).filter((name) => /^((un)?licen[cs]e|notice|copying)/i.test(name));
  if (files.length === 0) throw new Error(`${folder} has no licence text to pass on`);
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim())
    .join("\n\n");
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/"));
}

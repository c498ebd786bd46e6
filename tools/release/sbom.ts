// The bill of materials of a release, in CycloneDX: what `npm sbom` says about the packages that users get, for every
// platform, those that are bundled included. The same lockfile gives the same bytes: no time of day, no random number.
//   npm run sbom [-- FILE]     (prints it, or writes FILE)
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { readLockfile, runtimePackages } from "./lockfile.ts";

type Component = {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly unknown[];
};
type Dependency = { readonly ref: string; readonly dependsOn?: readonly string[] };
export type Bom = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
};

export function makeBom(): Bom {
  // Everything, and then our choice of it: with "--omit dev" npm leaves out what developers need as well as users.
  const arguments_ = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const text = execFileSync("npm", arguments_, {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { metadata, ...all } = JSON.parse(text) as Bom & { metadata: object }; // npm's, in the form of the format
  const wanted = new Set(runtimePackages(readLockfile()).map(({ name, version }) => `${name}@${version}`));
  const own = { ...metadata.component, name: "cattail" }; // npm calls it by its folder's name
  wanted.add(own["bom-ref"]);
  const components = all.components.filter((component) => wanted.has(component["bom-ref"]));
  const dependencies = all.dependencies
    .filter(({ ref }) => wanted.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => wanted.has(each)) }));
  const { timestamp: _, ...rest } = metadata as { timestamp?: string; component: Component };
  const bom = { ...all, metadata: { ...rest, component: own }, components, dependencies };
  return { ...bom, serialNumber: serialNumber(components.map((each) => each["bom-ref"])) } as Bom;
}

/** A UUID made from the content (version 8: "as we like"), so that only another content has another. */
function serialNumber(refs: readonly string[]): string {
  const hex = createHash("sha256").update(refs.join("\n")).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}

if (import.meta.main) {
  const text = `${JSON.stringify(makeBom(), undefined, 2)}\n`;
  const [file] = process.argv.slice(2);
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}

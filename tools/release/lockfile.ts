// Which packages a user gets with Cattail, as package-lock.json says: everything that the runtime dependencies lead to, for
// every platform, and what is bundled although it is only a development dependency. The bill of materials
// (sbom.ts) and the licence check (licences.ts) both ask here.
import { readFileSync } from "node:fs";

export type LockedPackage = {
  readonly name: string;
  readonly version: string;
  /** Where npm puts it, from the root: node_modules/a/node_modules/b. */
  readonly path: string;
  /** What the registry says its licence is. */
  readonly licence: string | undefined;
};

type Entry = {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
};
export type Lockfile = { readonly packages: { readonly [path: string]: Entry } };

/** Bundled into the programs or the dashboard's page, so that users get them with dist/; test/system/package.test.ts compares. */
export const bundled: readonly string[] = ["@opentelemetry/api", "commander", "preact", "prom-client", "uplot", "yaml"];

export function readLockfile(file = "package-lock.json"): Lockfile {
  return JSON.parse(readFileSync(file, "utf8")) as Lockfile; // written by npm
}

/** What reaches a user. */
export function runtimePackages(lock: Lockfile): LockedPackage[] {
  return reachable(lock, [...Object.keys(lock.packages[""]?.dependencies ?? {}), ...bundled]);
}

/** What only those who work on Cattail have on their machines. */
export function developmentPackages(lock: Lockfile): LockedPackage[] {
  const runtime = new Set(runtimePackages(lock).map(({ path }) => path));
  return reachable(lock, Object.keys(lock.packages[""]?.devDependencies ?? {})).filter(
    ({ path }) => !runtime.has(path),
  );
}

function reachable(lock: Lockfile, names: readonly string[]): LockedPackage[] {
  const found = new Map<string, LockedPackage>();
  const waiting = names.map((name) => resolve(lock, "", name));
  for (let path = waiting.pop(); path !== undefined || waiting.length > 0; path = waiting.pop()) {
    const entry = path === undefined ? undefined : lock.packages[path];
    if (path === undefined || entry === undefined || found.has(path)) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    found.set(path, { name, version: entry.version ?? "", path, licence: entry.license });
    const { dependencies, optionalDependencies, peerDependencies } = entry;
    const wanted = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    // An optional peer, or a package for another kind of machine, may be absent from the lockfile.
    for (const next of wanted) waiting.push(resolve(lock, path, next));
    if (entry.link === true) waiting.push(entry.resolved);
  }
  // A link is a folder of this repository: ours, and no package of its own.
  return [...found.values()].filter(({ path }) => path.startsWith("node_modules/") && !isLink(lock, path)).sort(byPath);
}

/** As Node looks for it: beside the one that asks, then one folder further out, and so on. */
function resolve(lock: Lockfile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (folder === "") return undefined;
  }
}

function isLink(lock: Lockfile, path: string): boolean {
  return lock.packages[path]?.link === true;
}

function byPath(a: LockedPackage, b: LockedPackage): number {
  return a.path < b.path ? -1 : 1;
}

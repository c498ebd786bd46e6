// The bill of materials lists exactly what users get, each with its licence and the hash of its archive.
import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { bundled, type Lockfile, readLockfile, runtimePackages } from "../../tools/release/lockfile.ts";
import { type Bom, makeBom } from "../../tools/release/sbom.ts";

let bom: Bom;
before(() => {
  bom = makeBom();
});

test("it holds every runtime dependency of every platform, what is bundled, and nothing else", () => {
  const expected = runtimePackages(readLockfile()).map(({ name, version }) => `${name}@${version}`);
  deepEqual(bom.components.map((component) => component["bom-ref"]).sort(), [...new Set(expected)].sort());
});

test("what this machine would install for production is in it", () => {
  const listed = execFileSync("npm", ["ls", "--omit", "dev", "--all", "--parseable", "--long"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const refs = new Set(bom.components.map((component) => component["bom-ref"]));
  const ids = listed.split("\n").flatMap((line) => {
    const id = line.split(":")[1] ?? "";
    return id === "" || id.startsWith("cattail@") ? [] : [id];
  });
  deepEqual(
    ids.filter((id) => !refs.has(id)),
    [],
  );
});

test("it is about the version in package.json, and its direct dependencies are those of package.json", () => {
  const own = JSON.parse(readFileSync("package.json", "utf8")) as Lockfile["packages"][string] & { version: string };
  equal(bom.metadata.component["bom-ref"], `cattail@${own.version}`);
  const direct = bom.dependencies.find(({ ref }) => ref === `cattail@${own.version}`)?.dependsOn ?? [];
  const isNamed = (name: string) => own.devDependencies?.[name] !== undefined; // others come with one that is
  const named = [...Object.keys(own.dependencies ?? {}), ...bundled.filter(isNamed)];
  deepEqual(direct.map((ref) => ref.slice(0, ref.lastIndexOf("@"))).sort(), named.sort());
});

test("each package has a licence and a hash", () => {
  const bare = bom.components.filter(({ licenses = [], hashes = [] }) => licenses.length === 0 || hashes.length === 0);
  deepEqual(
    bare.map(({ name }) => name),
    [],
  );
});

test("made twice it is the same", () => deepEqual(makeBom(), bom));

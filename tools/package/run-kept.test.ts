import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runFrugally, runKept } from "./run-kept.ts";

let folder = "";
let before: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cattail-kept-"));
  before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = folder;
  writeFileSync(join(folder, "program.cjs"), program);
});
afterEach(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
  rmSync(folder, { recursive: true, force: true });
});

const program = `(function (exports, require, module, bundleUrl) {
  module.exports = { twice: (n) => { const double = (x) => 2 * x; return double(n); }, url: bundleUrl };
})`;
const digest = "0123456789abcdef0123456789abcdef";
const kept = () => join(folder, "cattail", "programs", `test-${digest.slice(0, 16)}`);

/** What the program answers, and whether new code was kept. */
function run(of = digest): { twice: number; isNew: boolean } {
  const file = join(folder, "program.cjs");
  const { exports, keep } = runKept(pathToFileURL(file), { name: "test", digest: of });
  const { twice, url } = exports as { twice: (n: number) => number; url: string }; // as written above
  equal(url, pathToFileURL(file).href);
  const answer = twice(21);
  const stamp = () =>
    readdirSync(folder, { recursive: true }).map((name) => `${name} ${inode(join(folder, String(name)))}`);
  const seen = stamp();
  keep();
  return { twice: answer, isNew: stamp().join() !== seen.join() };
}

function inode(path: string): number {
  return statSync(path).ino;
}

test("the first run keeps its code, for this user alone, and the next one uses it", () => {
  deepEqual(run(), { twice: 42, isNew: true });
  equal(statSync(kept()).mode & 0o777, 0o600);
  deepEqual(run(), { twice: 42, isNew: false });
});

test("another version of the program has its own code, and the old one's goes", () => {
  run();
  deepEqual(run("fedcba9876543210"), { twice: 42, isNew: true });
  deepEqual(readdirSync(join(folder, "cattail", "programs")), ["test-fedcba9876543210"]);
});

const damages: { name: string; damage: () => void }[] = [
  { name: "a bit of it is wrong", damage: () => overwrite((bytes) => bytes.fill(~(bytes[100] ?? 0) & 0xff, 100, 101)) },
  { name: "it is cut off", damage: () => overwrite((bytes) => bytes.subarray(0, 60)) },
  { name: "it is empty", damage: () => writeFileSync(kept(), "") },
  { name: "others may write to it", damage: () => chmodSync(kept(), 0o666) },
];
for (const { name, damage } of damages) {
  test(`kept code is not used, and made again, if ${name}`, () => {
    run();
    damage();
    deepEqual(run(), { twice: 42, isNew: true });
    deepEqual(run(), { twice: 42, isNew: false });
  });
}

test("a module that takes long is loaded when somebody looks into it, and is what it is", () => {
  const late = `(function (exports, require, module, bundleUrl) {
    const isLoaded = () => process.moduleLoadList.includes("NativeModule http2");
    const http2 = require("node:http2");
    const before = isLoaded();
    const { constants } = http2;
    module.exports = { before, after: isLoaded(), isSame: constants === process.getBuiltinModule("node:http2").constants, names: Object.keys(http2), has: "connect" in http2 };
  })`;
  const file = join(folder, "late.cjs");
  writeFileSync(file, late);
  const { exports } = runKept(pathToFileURL(file), { name: "late", digest });
  const names = Object.keys(process.getBuiltinModule("node:http2"));
  deepEqual(exports, { before: false, after: true, isSame: true, names, has: true });
});

test("code that was kept by a frugal run is used by the next one", () => {
  const file = pathToFileURL(join(folder, "program.cjs"));
  const first = runKept(file, { name: "frugal", digest });
  runFrugally();
  first.keep();
  const path = join(folder, "cattail", "programs", `frugal-${digest.slice(0, 16)}`);
  const made = inode(path);
  // Another process, where nobody has asked V8 for anything yet.
  const program = `import { runKept } from ${JSON.stringify(new URL("./run-kept.ts", import.meta.url).href)};
    runKept(new URL(${JSON.stringify(file.href)}), { name: "frugal", digest: ${JSON.stringify(digest)} }).keep();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", program]);
  equal(inode(path), made);
});

for (const place of ["/dev/null", "no/such/home/.cache"]) {
  test(`where nothing can be kept (${place}), the program runs all the same, and nothing is made`, () => {
    process.env.XDG_CACHE_HOME = place.startsWith("/") ? place : join(folder, place);
    deepEqual(run(), { twice: 42, isNew: false });
    deepEqual(readdirSync(folder), ["program.cjs"]);
  });
}

function overwrite(change: (bytes: Buffer) => Buffer): void {
  writeFileSync(kept(), change(readFileSync(kept())));
}

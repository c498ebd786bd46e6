// What we pack, the system's own tar unpacks.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { Bundle, stamp } from "./bundle.ts";
import { safeName } from "./tar.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-bundle-"));
after(() => rmSync(base, { recursive: true, force: true }));
let made = 0;
const fresh = () => {
  made += 1;
  return join(base, `${made}.tar.gz`);
};

async function packed(
  files: readonly [name: string, content: string | Uint8Array][],
): Promise<{ [name: string]: string }> {
  const path = fresh();
  const bundle = new Bundle({ path, root: "root", nowMs: () => 1_700_000_000_000 });
  await Promise.all(files.map(([name, content]) => bundle.add(name, content)));
  await bundle.close();
  equal(statSync(path).mode & 0o777, 0o600);
  const folder = `${path}.out`;
  execFileSync("mkdir", [folder]);
  execFileSync("tar", ["-xzf", path, "-C", folder]);
  const found = readdirSync(join(folder, "root"), { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return Object.fromEntries(
    found.map((file) => {
      const at = join(file.parentPath, file.name);
      return [at.slice(join(folder, "root").length + 1), readFileSync(at, "latin1")];
    }),
  );
}

const long = "a".repeat(60);
const cases: { name: string; files: [string, string][]; as?: { [name: string]: string } }[] = [
  {
    name: "files in folders, empty ones too",
    files: [
      ["a/b.txt", "x"],
      ["empty", ""],
      ["block", "y".repeat(512)],
    ],
  },
  {
    name: "names longer than a header's field",
    files: [
      [`${long}/${long}/${long}.yaml`, "1"],
      [`${long}/${"b".repeat(120)}`, "2"],
    ],
  },
  { name: "names of more than 255 bytes", files: [[`${`${long}/`.repeat(6)}file`, "deep"]] },
  { name: "names that are not ASCII", files: [["nœud/жур.log", "x"]] },
  { name: "names that lead out stay in", files: [["../../etc/passwd", "x"]], as: { "etc/passwd": "x" } },
];
for (const { name, files, as } of cases) {
  test(`a bundle has ${name}`, async () => deepEqual(await packed(files), as ?? Object.fromEntries(files)));
}

test("whatever the names and contents, tar reads them back", async () => {
  const name = fc.stringMatching(/^[a-z][a-zé-]{0,80}(\/[a-zé-]{1,130}){0,3}$/);
  const content = fc.uint8Array({ maxLength: 1500 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(name, content), { selector: ([at]) => at.split("/")[0], minLength: 1, maxLength: 4 }),
      async (files) => {
        const wanted = files.map(([at, bytes]) => [at, Buffer.from(bytes).toString("latin1")]);
        deepEqual(await packed(files), Object.fromEntries(wanted));
      },
    ),
    { numRuns: 25 },
  );
});

test("no name leads out of the folder", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const safe = safeName(text);
      equal(
        safe.split("/").some((part) => part === "" || part === "." || part === ".."),
        false,
      );
      equal(/[\0\n\\]/.test(safe), false);
    }),
  );
});

test("a bundle that exists is not written over, and one that is given up is gone", async () => {
  const path = fresh();
  const first = new Bundle({ path, root: "r", nowMs: Date.now });
  await first.add("a", "1");
  await first.close();
  const second = new Bundle({ path, root: "r", nowMs: Date.now });
  await rejects(
    second.add("a", "x".repeat(1 << 20)).then(() => second.close()),
    { code: "EEXIST" },
  );
  const third = new Bundle({ path: `${path}2`, root: "r", nowMs: Date.now });
  await third.add("a", "1");
  await third.discard();
  equal(existsSync(`${path}2`), false);
});

test("a stamp is a time that sorts", () => equal(stamp(Date.UTC(2026, 10, 16, 18, 5, 2)), "20261116_180502"));

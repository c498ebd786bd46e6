// Folders with those above them, also where there can be none.
import { equal, rejects, throws } from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeFolders, makeFoldersSync } from "./make-folders.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-folders-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("folders are made, and are there already the second time", async () => {
  for (const name of ["one", "one", "two"]) {
    const sync = join(folder, "sync", name, "c");
    makeFoldersSync(sync, 0o700);
    equal(statSync(sync).mode & 0o777, 0o700);
    await makeFolders(join(folder, "waiting", name, "c"), 0o700);
    equal(statSync(join(folder, "waiting", name, "c")).mode & 0o777, 0o700);
  }
});

symlinkSync(join(folder, "nowhere"), join(folder, "link"));
for (const path of ["/proc/none/a/b", join(folder, "link", "a")])
  test(`where there can be none there is an end: ${path.replace(folder, "...")}`, async () => {
    throws(() => makeFoldersSync(path), { code: "ENOENT" });
    await rejects(makeFolders(path), { code: "ENOENT" });
  });

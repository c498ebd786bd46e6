// Whole or not at all, with the owner and mode that were asked for, and no link followed against the caller's will.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isTemporaryName, removeFile, replaceFile, sweepTemporaryFiles } from "./replace-file.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-replace-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const freshFolder = (): string => {
  made += 1;
  const path = join(folder, String(made));
  mkdirSync(path);
  return path;
};
const modeOf = (path: string): number => statSync(path).mode & 0o7777;

test("a new file has the content and mode 0644, and nothing else is in the folder", async () => {
  const path = join(freshFolder(), "a.yaml");
  await replaceFile(path, "kind: A\n");
  equal(readFileSync(path, "utf8"), "kind: A\n");
  equal(modeOf(path), 0o644);
  deepEqual(readdirSync(join(path, "..")), ["a.yaml"]);
});

test("a file that is replaced keeps its mode, unless another is asked for", async () => {
  const path = join(freshFolder(), "key.pem");
  writeFileSync(path, "old");
  chmodSync(path, 0o600);
  await replaceFile(path, new TextEncoder().encode("new"));
  equal(readFileSync(path, "utf8"), "new");
  equal(modeOf(path), 0o600);
  await replaceFile(path, "newer", { mode: 0o640, durable: false });
  equal(modeOf(path), 0o640);
});

test("whoever has the old file open reads the old content to its end", async () => {
  const path = join(freshFolder(), "open");
  await replaceFile(path, "old");
  const before = statSync(path).ino;
  await replaceFile(path, "new");
  ok(statSync(path).ino !== before, "the file was written to in place");
});

test("the owner is the one that was asked for", { skip: process.getuid?.() !== 0 && "needs root" }, async () => {
  const path = join(freshFolder(), "owned");
  await replaceFile(path, "x", { owner: { uid: 12, gid: 34 } });
  const { uid, gid } = statSync(path);
  deepEqual({ uid, gid }, { uid: 12, gid: 34 });
});

test("a link is replaced, followed or refused, as told", async () => {
  const at = freshFolder();
  const [link, real] = [join(at, "link"), join(at, "real")];
  const relink = () => {
    rmSync(link, { force: true });
    writeFileSync(real, "real");
    symlinkSync("real", link);
  };
  relink();
  await replaceFile(link, "new");
  ok(!lstatSync(link).isSymbolicLink());
  equal(readFileSync(real, "utf8"), "real");
  relink();
  await replaceFile(link, "new", { symlink: "follow" });
  ok(lstatSync(link).isSymbolicLink());
  equal(readFileSync(real, "utf8"), "new");
  relink();
  await rejects(replaceFile(link, "new", { symlink: "refuse" }), { code: "FILE_IS_LINK" });
  equal(readFileSync(real, "utf8"), "real");
  deepEqual(readdirSync(at).sort(), ["link", "real"]);
});

test("a folder that is a link is refused where links are", async () => {
  const at = freshFolder();
  mkdirSync(join(at, "real"));
  symlinkSync("real", join(at, "link"));
  await rejects(replaceFile(join(at, "link", "file"), "x", { symlink: "refuse" }));
  deepEqual(readdirSync(join(at, "real")), []);
  await replaceFile(join(at, "real", "file"), "x", { symlink: "refuse" });
  equal(readFileSync(join(at, "real", "file"), "utf8"), "x");
});

test("a failure says which file, why and what to do, and leaves nothing behind", async () => {
  const at = freshFolder();
  await rejects(replaceFile(join(at, "no", "file"), "x"), {
    code: "FILE_UNWRITABLE",
    message: new RegExp(`${at}/no/file cannot be written \\(ENOENT\\)\\. Check that its folder exists`),
  });
  mkdirSync(join(at, "folder"));
  await rejects(replaceFile(join(at, "folder"), "x"), { code: "FILE_UNWRITABLE", message: /EISDIR|ENOTEMPTY|EEXIST/ });
  deepEqual(readdirSync(at), ["folder"]);
});

test("removing says whether the file was there", async () => {
  const path = join(freshFolder(), "gone");
  equal(await removeFile(path), false);
  await replaceFile(path, "x");
  equal(await removeFile(path), true);
  await rejects(removeFile(folder), { code: "FILE_UNWRITABLE" });
});

test("a writer that is killed leaves the old content or the new, and a temporary file that is swept", async () => {
  const at = freshFolder();
  const path = join(at, "whole");
  const contents = ["a", "b"].map((letter) => letter.repeat(300_000));
  const program = `
    import { replaceFile } from ${JSON.stringify(new URL("./replace-file.ts", import.meta.url).href)};
    for (let i = 0; ; i++) {
      await replaceFile(${JSON.stringify(path)}, (i % 2 === 0 ? "a" : "b").repeat(300_000), { durable: false });
      if (i === 0) console.log("begun");
    }`;
  for (const delayMs of [0, 1, 3, 7]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, delayMs)); // anywhere in a write
    child.kill("SIGKILL");
    await exited;
    ok(contents.includes(readFileSync(path, "utf8")), "a part of a file");
  }
  await sweepTemporaryFiles(at, { nowMs: Date.now() + 120_000 });
  deepEqual(readdirSync(at), ["whole"]);
});

test("old temporary files are swept, young ones and others stay", async () => {
  const at = freshFolder();
  const names = [".a.yaml.0123456789abcdef.tmp", ".b.yaml.0123456789abcdef.tmp", ".keep.tmp", "c.yaml"];
  for (const name of names) writeFileSync(join(at, name), "");
  utimesSync(join(at, names[0] ?? ""), 1, 1);
  equal(await sweepTemporaryFiles(at, { nowMs: Date.now() }), 1);
  deepEqual(readdirSync(at).sort(), names.slice(1).sort());
  deepEqual(names.map(isTemporaryName), [true, true, false, false]);
});

// flock(2) as other programs take it: util-linux's flock is the peer.
import { equal } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hasBuiltin } from "../load-builtin.ts";
import { tryFlock, waitForFlock } from "./flock.ts";

const isHere = spawnSync("flock", ["--version"]).status === 0;
const skip = !isHere ? "no program flock" : hasBuiltin("node:ffi") ? false : "no node:ffi";
const folder = mkdtempSync(join(tmpdir(), "cattail-flock-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const isTaken = (path: string) => spawnSync("flock", ["-n", path, "true"]).status !== 0;

test("while we hold it nobody else gets it, and then they do", { skip }, () => {
  const path = join(folder, "new", "ipam.lock");
  const held = waitForFlock(path);
  equal(isTaken(path), true);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  equal(isTaken(path), false);
});

test("we wait for another program that has it", { skip }, async () => {
  const path = join(folder, "theirs.lock");
  const other = spawn("flock", [path, "sh", "-c", "echo locked; sleep 0.3"], { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout, "data");
  const before = performance.now();
  using _held = waitForFlock(path);
  equal(performance.now() - before > 100, true);
});

test("whoever does not wait gets it at once or not at all", { skip }, () => {
  const path = join(folder, "at-once.lock");
  {
    using held = tryFlock(path);
    equal(held !== undefined, true);
    equal(isTaken(path), true);
    equal(tryFlock(path), undefined);
  }
  equal(isTaken(path), false);
});

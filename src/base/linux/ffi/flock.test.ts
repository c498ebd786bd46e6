// flock(2) as other programs take it: util-linux's flock is the peer.
import { deepEqual, equal } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hasBuiltin } from "../load-builtin.ts";
import { tryFlock, tryPassingFlock, waitForFlock } from "./flock.ts";

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

test("a passing lock takes its file along, and who had the old file open does not hold the lock", {
  skip,
}, async () => {
  const path = join(folder, "passing", "pod");
  const held = tryPassingFlock(path);
  deepEqual(
    [held !== undefined, existsSync(path), isTaken(path), tryPassingFlock(path)],
    [true, true, true, undefined],
  );
  // Waits for the file that is about to go, and gets it; the next one who takes the lock gets a new file.
  const other = spawn("flock", ["--no-fork", path, "sleep", "30"], { stdio: ["ignore", "pipe", "inherit"] });
  held?.[Symbol.dispose]();
  held?.[Symbol.dispose]();
  equal(existsSync(path), false);
  {
    using next = tryPassingFlock(path);
    equal(next !== undefined, true);
    equal(existsSync(path), true);
  }
  equal(existsSync(path), false);
  other.kill("SIGKILL");
  await once(other, "exit");
});

test("the file of a passing lock whose holder was killed is taken over", { skip }, async () => {
  const path = join(folder, "killed");
  const other = spawn("flock", ["--no-fork", path, "sh", "-c", "echo locked; exec sleep 30"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(other.stdout, "data");
  equal(tryPassingFlock(path), undefined);
  other.kill("SIGKILL");
  await once(other, "exit");
  {
    using held = tryPassingFlock(path);
    equal(held !== undefined, true);
  }
  equal(existsSync(path), false);
});

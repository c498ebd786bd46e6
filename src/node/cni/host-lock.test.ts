// The host's lock as the agent takes it: calls that come together share it, others get a turn in between, and without it the work is done as well.
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { tryFlock } from "../../base/linux/files.ts";
import { isKernelReachable } from "../../base/linux/kernel.ts";
import { SharedHostLock } from "./host-lock.ts";

const skip = isKernelReachable() ? false : "needs node:ffi (Node 26.1)";
const folder = mkdtempSync(join(tmpdir(), "cattail-host-lock-"));
after(() => rmSync(folder, { recursive: true, force: true }));
/** Time goes by in sleeps alone, which take none. */
let nowMs = 0;
const clock = {
  ...systemClock,
  monotonicMs: () => nowMs,
  async sleep(ms: number) {
    nowMs += ms;
    await new Promise(setImmediate);
  },
};

function make(name: string) {
  const warnings: string[] = [];
  const path = join(folder, name);
  return { path, warnings, lock: new SharedHostLock(path, { clock, warn: (text) => void warnings.push(text) }) };
}

const isFree = (path: string) => {
  using held = tryFlock(path);
  return held !== undefined;
};

test("calls that come together have it together, and it is free after the last", { skip }, async () => {
  const { path, lock, warnings } = make("together");
  const both = Promise.withResolvers<void>();
  let inside = 0;
  const work = async () => {
    inside += 1;
    if (inside === 2) both.resolve();
    await both.promise;
    equal(isFree(path), false);
  };
  await Promise.all([lock.with(work), lock.with(work)]);
  deepEqual([isFree(path), warnings], [true, []]);
});

test("a call that fails lets go of it", { skip }, async () => {
  const { path, lock } = make("failing");
  const failed = await lock.with(async () => Promise.reject(new Error("no"))).catch((error: Error) => error.message);
  deepEqual([failed, isFree(path)], ["no", true]);
});

test("it is waited for while another program has it, and done without in the end", { skip }, async () => {
  const { path, lock, warnings } = make("theirs");
  const theirs = tryFlock(path);
  const waiting = lock.with(async () => isFree(path));
  await new Promise(setImmediate);
  theirs?.[Symbol.dispose]();
  equal(await waiting, false);
  using _theirs = tryFlock(path);
  equal(await lock.with(async () => "done"), "done");
  match(warnings.join(), /was not free within 5000 ms, and is done without/);
});

test("a folder that cannot be made is said, and no reason to fail", { skip }, async () => {
  const warnings: string[] = [];
  const lock = new SharedHostLock("/dev/null/none/lock", { clock, warn: (text) => void warnings.push(text) });
  equal(await lock.with(async () => 1), 1);
  match(warnings.join(), /cannot be had, and is done without/);
});

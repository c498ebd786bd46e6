// A pod's lock: calls for one pod come one after the other, whichever process has them, and a lock that cannot be had does not keep a pod from its network.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { tryPassingFlock } from "../../base/linux/files.ts";
import { isKernelReachable } from "../../base/linux/kernel.ts";
import { podLockPath, withPodLock } from "./pod-lock.ts";

const skip = isKernelReachable() ? false : "needs node:ffi (Node 26.1)";
const folder = mkdtempSync(join(tmpdir(), "cattail-pod-lock-"));
after(() => rmSync(folder, { recursive: true, force: true }));
/** Time goes by in sleeps alone, which take none. */
let nowMs = 0;
const clock = {
  ...systemClock,
  monotonicMs: () => nowMs,
  async sleep(ms: number, signal?: AbortSignal) {
    nowMs += ms;
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  },
};
const warnings: string[] = [];
const edge = { clock, warn: (text: string) => void warnings.push(text) };
const pathOf = (name: string) => podLockPath(join(folder, "ipam.lock"), name);

test("two calls for a pod do not overlap, calls for two pods do, and no file is left", { skip }, async () => {
  const story: string[] = [];
  const both = Promise.withResolvers<void>();
  const work = (name: string) => async () => {
    story.push(`${name} begins`);
    if (name === "other pod") both.resolve();
    await both.promise;
    await new Promise(setImmediate);
    story.push(`${name} ends`);
  };
  await Promise.all([
    withPodLock(pathOf("cali1"), edge, work("first")),
    withPodLock(pathOf("cali1"), edge, work("second")),
    withPodLock(pathOf("cali2"), edge, work("other pod")),
  ]);
  const ofOne = story.filter((each) => !each.startsWith("other"));
  deepEqual(ofOne, ["first begins", "first ends", "second begins", "second ends"]);
  deepEqual([existsSync(pathOf("cali1")), existsSync(pathOf("cali2")), warnings], [false, false, []]);
});

test("work that fails lets go of it", { skip }, async () => {
  await rejects(() => withPodLock(pathOf("cali3"), edge, async () => Promise.reject(new Error("no"))), /no/);
  equal(await withPodLock(pathOf("cali3"), edge, async () => 1), 1);
});

test("who waits too long is told to come again, and who is not waited for any more stops", { skip }, async () => {
  using _theirs = tryPassingFlock(pathOf("cali4"));
  await rejects(() => withPodLock(pathOf("cali4"), edge, async () => 1), { code: 11, message: /was at work for 60 s/ });
  const signal = AbortSignal.abort(new Error("the caller hung up"));
  await rejects(() => withPodLock(pathOf("cali4"), { ...edge, signal }, async () => 1), /hung up/);
});

test("a folder that cannot be made is said, and no reason to fail", { skip }, async () => {
  equal(await withPodLock(podLockPath("/dev/null/none/ipam.lock", "cali5"), edge, async () => 1), 1);
  match(warnings.join(), /cali5 cannot be had, and is done without/);
});

// The lock of a node's agent, and the files that it does not leave.
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLog } from "../../base/lib/index.ts";
import { removeLeftLocks, takeAgentLock } from "./agent-lock.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-agent-lock-"));
after(() => rmSync(base, { recursive: true, force: true }));

function take(path: string): Disposable {
  const lock = takeAgentLock(path, silentLog);
  if (typeof lock === "string") throw new Error(`the lock is ${lock}`);
  return lock;
}

test("one has it, and its file goes with it", () => {
  const path = join(base, "agent-felix-1.lock");
  const first = take(path);
  equal(takeAgentLock(path, silentLog), "held");
  first[Symbol.dispose]();
  deepEqual(readdirSync(base), []);
  take(path)[Symbol.dispose]();
});

test("a lock that cannot be written into is held, nevertheless", () => {
  const path = join(base, "agent-felix-9.lock");
  const full = () => {
    throw new Error("ENOSPC");
  };
  const lock = takeAgentLock(path, silentLog, full);
  equal(takeAgentLock(path, silentLog), "held");
  if (typeof lock === "string") throw new Error(`the lock is ${lock}`);
  lock[Symbol.dispose]();
});

test("files that killed agents have left go, and none that is held, fresh, or not a lock", () => {
  const hour = 3_600_000;
  const names = ["agent-bgp-1-0123abcd.lock", "agent-felix-2.lock", "agent-felix-3.lock", "cni.sock.lock"];
  for (const name of names) writeFileSync(join(base, name), "");
  using _held = take(join(base, "agent-felix-2.lock"));
  const nowMs = Date.now();
  const old = new Date(nowMs - 2 * hour);
  for (const name of names) if (name !== "agent-felix-3.lock") utimesSync(join(base, name), old, old);
  removeLeftLocks(base, nowMs);
  deepEqual(readdirSync(base).sort(), ["agent-felix-2.lock", "agent-felix-3.lock", "cni.sock.lock"]);
  notEqual(takeAgentLock(join(base, "agent-bgp-1-0123abcd.lock"), silentLog), "held");
  removeLeftLocks(join(base, "nowhere"), nowMs);
});

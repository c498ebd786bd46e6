// One agent for each node: two that write the same rules, routes or files would undo each other's work. Each half has a lock, a file that says
// who has it. The kernel lets go of it with the process, however that ends.
//
//   free ─▶ ours          held ─▶ wait (an upgrade: the old one is about to end) ─▶ ours
//                                └─▶ still held: the process ends, and says by whom
//
// The network namespace is in the file's name: what an agent works on is its node's network, and a machine may have several. So the file goes with
// its lock, and what killed agents have left goes after an hour: namespaces come and go, and their files would stay for ever.
import { createHash } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CattailError, type Clock, type Log, messageOf } from "../../base/lib/index.ts";
import { tryPassingFlock } from "../../base/linux/files.ts";

/** felix: rules and routes. bgp: the folder of BIRD's configuration. */
export type LockedHalf = "felix" | "bgp";

type Environment = { readonly [name: string]: string | undefined };

const folder = "/var/run/calico/cattail";
const wait = { limitMs: 30_000, pauseMs: 200 };
const lockName = /^agent-(?:felix|bgp)-\d+(?:-[0-9a-f]{8})?\.lock$/;
const leftAfterMs = 3_600_000;

function lockPath(half: LockedHalf, environment: Environment): string {
  const birdFolder = environment.BIRD_CONFIG_DIR || "/etc/calico/confd/config";
  const ofFolder = half === "bgp" ? `-${createHash("sha256").update(birdFolder).digest("hex").slice(0, 8)}` : "";
  return `${folder}/agent-${half}-${namespaceNumber()}${ofFolder}.lock`;
}

/** Waits for an agent that is about to end; throws NODE_AGENT_RUNNING if it does not. */
export async function lockHalves(
  halves: readonly LockedHalf[],
  options: {
    readonly environment: Environment;
    readonly clock: Clock;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
): Promise<Disposable> {
  const { environment, clock, log, signal } = options;
  const held = new DisposableStack();
  try {
    for (const half of halves) {
      const path = lockPath(half, environment);
      const untilMs = clock.monotonicMs() + wait.limitMs;
      let hasSaid = false;
      for (let lock = takeAgentLock(path, log); ; lock = takeAgentLock(path, log)) {
        if (lock === "cannot be had") break;
        if (lock !== "held") {
          held.use(lock);
          break;
        }
        if (clock.monotonicMs() >= untilMs) throw agentRuns(half, path);
        if (!hasSaid)
          log.warn("Another agent is at work on this node; waiting for its end", { by: holderOf(path), lock: path });
        hasSaid = true;
        await clock.sleep(wait.pauseMs, signal);
      }
      if (hasSaid) log.info("The other agent has ended", { lock: path });
    }
    removeLeftLocks(folder, clock.wallMs());
    return held.move();
  } catch (error) {
    held.dispose();
    throw error;
  }
}

/** For what must not be done beside an agent: at once, or NODE_AGENT_RUNNING is thrown. */
export function lockAgainstAgents(environment: Environment, log: Log): Disposable {
  const held = new DisposableStack();
  for (const half of ["felix", "bgp"] as const) {
    const path = lockPath(half, environment);
    const lock = takeAgentLock(path, log);
    if (lock === "held") {
      held.dispose();
      throw agentRuns(half, path);
    }
    if (lock !== "cannot be had") held.use(lock);
  }
  return held;
}

/** A node where it cannot be had (another user's folder, no node:ffi) works nevertheless, as it would without us. */
export function takeAgentLock(
  path: string,
  log: Log,
  write: (path: string) => void = writeHolder,
): Disposable | "held" | "cannot be had" {
  try {
    const lock = tryPassingFlock(path) ?? tryPassingFlock(path); // the second time: its holder has just ended, and the file with it
    if (lock === undefined) return "held";
    try {
      write(path);
    } catch (error) {
      // The lock holds all the same: a full disk only keeps others from saying who has it.
      log.warn("The lock of this node's agent cannot say whose it is", { path, reason: messageOf(error) });
    }
    return lock;
  } catch (error) {
    log.warn("Nothing keeps a second agent from this node: the lock cannot be had", { path, reason: messageOf(error) });
    return "cannot be had";
  }
}

/** Of agents that were killed. Each is locked before it is removed: one that is held stays, however old it is. */
export function removeLeftLocks(from: string, nowMs: number): void {
  try {
    for (const name of readdirSync(from)) {
      const path = join(from, name);
      if (!lockName.test(name) || nowMs - lstatSync(path).mtimeMs < leftAfterMs) continue;
      tryPassingFlock(path)?.[Symbol.dispose]();
    }
  } catch {
    // They are in nobody's way, and the next agent looks again.
  }
}

function writeHolder(path: string): void {
  const words = process.argv.slice(2).join(" ").slice(0, 200);
  // Through no link that has come since it was locked.
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
  try {
    writeSync(file, `pid ${process.pid}, cattail ${words}, since ${new Date().toISOString()}\n`);
  } finally {
    closeSync(file);
  }
}

function holderOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim() || "unknown";
  } catch (error) {
    return `unknown (${messageOf(error)})`;
  }
}

function agentRuns(half: LockedHalf, path: string): CattailError {
  const what = half === "felix" ? "rules and routes" : "BIRD's configuration";
  return new CattailError("NODE_AGENT_RUNNING", {
    problem: `another agent keeps this node's ${what}: ${holderOf(path)} (lock ${path})`,
    next: "Stop that one first: its pod, its unit, or its process by this number (in a container it counts there). What it has put into the kernel stays in force meanwhile",
  });
}

function namespaceNumber(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/net"))?.[0] ?? "0";
  } catch {
    return "0"; // no /proc: one lock for the machine
  }
}

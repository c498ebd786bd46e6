// What the kernel knows of a process from outside it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** For `{ skip }` of tests that need it. */
export const withoutProc: string | false = existsSync("/proc/self/io") ? false : "this machine has no /proc";

/** How many files and sockets it has open. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Waits until it has written next to nothing (threads that wake each other write a little) for half a second. */
export async function untilSilent(pid: number): Promise<void> {
  let written = 0;
  let sinceMs = 0;
  await eventually(() => {
    const now = Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
    if (now > written + 50_000) [written, sinceMs] = [now, performance.now()];
    return performance.now() - sinceMs > 500;
  }, `process ${pid} writes no more`);
}

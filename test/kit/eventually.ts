// Waiting for what is not an event: polls, and fails by name.
import { setTimeout as sleep } from "node:timers/promises";

/** Polls until the condition holds; fails by name after the deadline. */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string),
  deadlineMs = 30_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await sleep(10);
  }
}

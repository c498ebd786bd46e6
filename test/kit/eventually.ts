// Waiting for what is not an event: polls, and fails by name. The deadline is one that only a failure reaches, on however
// slow a machine. A shorter one is for what must not be left to a part's slow look at everything, which comes after 90 s.
import { setTimeout as sleep } from "node:timers/promises";

export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string),
  deadlineMs = 120_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${typeof what === "string" ? what : what()}`);
    await sleep(10);
  }
}

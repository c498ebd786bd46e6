// How a command ends badly: one paragraph on standard error and a non-zero exit code. An error nobody foresaw keeps its
// stack, because then the person reading it is us.
import { CattailError } from "../lib/index.ts";

export function fail(error: unknown): void {
  if (error instanceof CattailError) console.error(`cattail: ${error.problem}.\n${error.next}. (${error.code})`);
  else console.error("cattail: unexpected error:", error);
  process.exitCode ||= 1; // a command may have said something graver already
}

// How a command ends badly: one paragraph on standard error and a non-zero exit code. An error nobody foresaw keeps its
// stack, because then the person reading it is us.
import { CattailError } from "../lib/index.ts";

export function fail(error: unknown): void {
  if (error instanceof CattailError)
    console.error(`cattail: ${sentence(error.problem)}\n${sentence(error.next)} (${error.code})`);
  else console.error("cattail: unexpected error:", error);
  process.exitCode ||= 1; // a command may have said something graver already
}

/** Some end in a question: "did you mean …?" */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

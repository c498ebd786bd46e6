// Why something failed, as E of the original's messages; and where the object stands that failed, which only those who
// read on a terminal are told: scripts look for the original's words.
import { messageOf } from "../../../../base/lib/index.ts";
import { isDatastoreError } from "../../../../calico/datastore/index.ts";
import { isResourceError } from "../../../../calico/resources/index.ts";
import { CtlError } from "../../console.ts";
import type { Target } from "../targets/targets.ts";

export function reasonOf(error: unknown): string {
  if (isInterruption(error)) return "interrupted";
  return messageOf(error);
}

/** Whether the datastore itself gave no answer, or not a whole one: nobody knows what happened. */
export function isSilence(error: unknown): boolean {
  return isInterruption(error) || isResourceError(error, "unavailable") || isDatastoreError(error, "unavailable");
}

/** The console's signal aborts with the exit code as its reason; our own patience ends with a TimeoutError. */
function isInterruption(error: unknown): boolean {
  return typeof error === "number" || (error instanceof Error && /^(?:Abort|Timeout)Error$/.test(error.name));
}

/** As the original prints it: with a new line, also after a text that ends with one. */
export function failureOf(lines: readonly string[], options: ErrorOptions): CtlError {
  return new CtlError(`${lines.join("\n")}\n`, options);
}

/** Where the object stands, and what is wrong in it. */
export async function hintsFor(error: unknown, { where, name }: Hinted): Promise<readonly string[]> {
  const problems = isResourceError(error) ? error.problems.filter(({ field }) => field !== "") : [];
  if (problems.length === 0) return [`${await where()}: ${name}`];
  return await Promise.all(problems.map(async ({ field, rule }) => `${await where(field)}: ${name}: ${field} ${rule}`));
}

type Hinted = { readonly name: string; readonly where: NonNullable<Target["where"]> };

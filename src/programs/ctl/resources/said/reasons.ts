// Why something failed, as E of the original's messages; and where the object stands that failed, which only those who
// read on a terminal are told: scripts look for the original's words.
import { messageOf } from "../../../../base/lib/index.ts";
import { isDatastoreError } from "../../../../calico/datastore/index.ts";
import { isResourceError } from "../../../../calico/resources/index.ts";
import type { Place } from "../../input/read-input.ts";

export function reasonOf(error: unknown): string {
  if (isInterruption(error)) return "interrupted";
  return messageOf(error);
}

/** Whether the datastore itself gave no answer, or not a whole one: nobody knows what happened. */
export function isSilence(error: unknown): boolean {
  return isInterruption(error) || isResourceError(error, "unavailable") || isDatastoreError(error, "unavailable");
}

export function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Where the object stands, and what is wrong in it. */
export function hintsFor(error: unknown, about: { readonly name: string; readonly place: Place }): readonly string[] {
  const { name, place } = about;
  const where = `${place.file}:${place.line}: ${name}`;
  const problems = isResourceError(error) ? error.problems.filter(({ field }) => field !== "") : [];
  return problems.length === 0 ? [where] : problems.map(({ field, rule }) => `${where}: ${field} ${rule}`);
}

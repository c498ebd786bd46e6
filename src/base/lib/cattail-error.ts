// The one shape of error a user meets: a stable code to search for, what was seen, and what to do next.
// docs/reference/errors.md lists every code.

/** An error with a `code` that stays, the `problem` that was seen, and what to do `next`. */
export class CattailError extends Error {
  readonly code: string;
  readonly problem: string;
  readonly next: string;

  constructor(code: string, says: { problem: string; next: string; cause?: unknown }) {
    super(`${says.problem}. ${says.next}`, says.cause === undefined ? undefined : { cause: says.cause });
    this.name = "CattailError";
    this.code = code;
    this.problem = says.problem;
    this.next = says.next;
  }
}

// How a command of ctl ends badly: its text once, alone, on the stream where the original has it. What to do about it follows
// where a person reads, or where -l warn or more was asked for: scripts compare what stands on standard error. Only where the
// original says nothing useful at all (the CRDs are missing) it always follows.
import { isRecord, messageOf } from "../../../base/lib/index.ts";
import { type Console, CtlError } from "../console.ts";

export type Failing = {
  readonly console: Pick<Console, "out" | "err">;
  /** Whether advice is welcome. */
  readonly isAdviceRead: boolean;
};

export function sayFailure(thrown: unknown, { console, isAdviceRead }: Failing): void {
  const text = thrown instanceof Error ? textOf(thrown) : String(thrown);
  const write = thrown instanceof CtlError && thrown.stream === "stdout" ? console.out : console.err;
  write(text.endsWith("\n") ? text : `${text}\n`);
  const advice = adviceOf(thrown);
  for (const { says, isNeeded } of advice) if (isNeeded || isAdviceRead) console.err(`${says}\n`);
}

/** An error that nobody foresaw keeps its stack, because then the person who reads it is us. */
function textOf(error: Error): string {
  const isForeseen = error instanceof CtlError || "code" in error || error.name === "ConfigProblem";
  return isForeseen ? error.message : `unexpected error: ${error.stack ?? messageOf(error)}`;
}

export type Advice = { readonly says: string; readonly isNeeded: boolean };

/** Of an error and of all that caused it, each thing once. A list or an AggregateError as cause stands for several. */
export function adviceOf(thrown: unknown): Advice[] {
  const found = new Map<string, Advice>();
  const look = (error: unknown, depth: number): void => {
    if (depth > 20) return;
    if (Array.isArray(error)) for (const one of error) look(one, depth + 1);
    if (!(error instanceof Error) && !isRecord(error)) return;
    const known = error as { code?: unknown; next?: unknown; missingRule?: unknown; cause?: unknown; errors?: unknown };
    const says =
      typeof known.missingRule === "string"
        ? `Add this rule to a role of this user:\n${known.missingRule.trimEnd()}`
        : typeof known.next === "string"
          ? sentence(known.next)
          : undefined;
    if (says !== undefined) {
      found.set(says, { says, isNeeded: known.code === "no-such-kind" });
      return; // what lies below says it again, with less knowledge
    }
    look(known.errors, depth + 1);
    look(known.cause, depth + 1);
  };
  look(thrown, 0);
  return [...found.values()];
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

// Standard output that cannot be written: of a command that has nothing else to say of it.
import { CattailError } from "../../base/lib/index.ts";
import { fail } from "./fail.ts";

let isSeenTo = false;

// A reader who has gone (head, for one) wanted no more, and that is no error of ours. A disk that is full is one, whatever
// the command thinks it has done; said last, when it has tidied up.
/** Once for a process. */
export function failOnUnwritableOutput(exitCode: number): void {
  if (isSeenTo) return;
  isSeenTo = true;
  let problem: NodeJS.ErrnoException | undefined;
  const note = (error: NodeJS.ErrnoException | null) => {
    if (error !== null && error.code !== "EPIPE" && error.code !== "ECONNRESET") problem ??= error;
  };
  process.stdout.on("error", note);
  process.on("exit", () => {
    note(process.stdout.errored); // where we exit before Node says it
    if (problem === undefined) return;
    process.exitCode = exitCode;
    fail(
      new CattailError("OUTPUT_UNWRITABLE", {
        problem: `standard output cannot be written (${problem.message})`,
        next: "Free space on the disk, or write the output to another place",
        cause: problem,
      }),
    );
  });
}

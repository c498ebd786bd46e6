// Which errno an error of this room is about, for those who act on it ("it is there already" is often no error to them).
import { SystemCallError } from "./libc.ts";

/** `EEXIST`, `ESRCH`, ...; undefined: not the kernel's refusal. */
export function kernelErrno(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof SystemCallError ? cause.code : undefined;
}

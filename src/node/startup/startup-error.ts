// What ends a start-up: the line that the original prints for it, which scripts and people look for, and what to do about it.
import { CattailError, messageOf } from "../../base/lib/index.ts";

/** As the original says it; `next` is ours. */
export class StartupError extends CattailError {
  /** The line of the log. */
  readonly says: string;
  /** What stands behind `error=` in that line. */
  readonly because: string | undefined;

  constructor(says: string, options: { next: string; cause?: unknown; code?: string }) {
    const { next, cause, code = "NODE_STARTUP_FAILED" } = options;
    const because = cause === undefined ? undefined : messageOf(cause);
    const whole = because === undefined ? says : `${says}: ${because}`;
    super(code, { problem: whole.replace(/\.+$/, ""), next, ...(cause === undefined ? {} : { cause }) });
    this.name = "StartupError";
    this.says = says;
    this.because = because;
  }
}

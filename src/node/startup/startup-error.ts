// What ends a start-up: the line that the original prints for it, which scripts and people look for, and what to do about it.
import { CattailError, messageOf } from "../../base/lib/index.ts";

/** `says` is the line of the log; what stands behind `error=` there is the cause. */
export type StartupError = CattailError & { readonly says: string };

export type StartupErrorOptions = {
  readonly next: string;
  readonly cause?: unknown;
  /** Start-up itself where nothing is said. */
  readonly about?: "rights" | "tunnel";
};

export function startupError(says: string, { next, cause, about }: StartupErrorOptions): StartupError {
  const whole = cause === undefined ? says : `${says}: ${messageOf(cause)}`;
  const said = { problem: whole.replace(/\.+$/, ""), next, ...(cause === undefined ? {} : { cause }) };
  const error =
    about === "rights"
      ? new CattailError("NODE_RIGHTS_MISSING", said)
      : about === "tunnel"
        ? new CattailError("NODE_TUNNEL_ADDRESS", said)
        : new CattailError("NODE_STARTUP_FAILED", said);
  return Object.assign(error, { says });
}

export function isStartupError(error: unknown): error is StartupError {
  return error instanceof CattailError && "says" in error;
}

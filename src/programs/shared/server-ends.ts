// How a process that serves ends. The codes are documented in docs/reference/exit-codes.md.
import type { Log } from "../../base/lib/index.ts";

export const serverExitCodes = { done: 0, failed: 1, unexpected: 2 } as const;

type Flushed = { flush(): Promise<void> };

/** Nothing is known of the state after an error that nobody foresaw: it is written down, and a restart is the cure. The kernel keeps what it has. */
export function endOnSurprise(log: Log, logs: Flushed): void {
  const end = (what: string) => (error: unknown) => {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error("Unexpected error; the process ends", { what, error: stack });
    void logs.flush().finally(() => process.exit(serverExitCodes.unexpected));
  };
  process.on("uncaughtException", end("uncaught exception"));
  process.on("unhandledRejection", end("unhandled rejection"));
}

// Why a session ended, for the log and for tests. The protocol has no word for it: the socket is closed.
import type { CloseReason as WireCloseReason } from "../../wire/index.ts";

/** The ends that are not the protocol's; docs/reference/protocol.md has those. */
export const fanoutEndCodes = [
  "FANOUT_WRITE_TIMEOUT",
  "FANOUT_FELL_BEHIND",
  "FANOUT_SOCKET",
  "FANOUT_REBALANCING",
  "FANOUT_HANDOVER",
  "FANOUT_SHUTDOWN",
  "FANOUT_FLOOD",
  "FANOUT_TLS",
  "FANOUT_UNTRUSTED",
] as const;

export type SessionEnd =
  | WireCloseReason
  | {
      readonly code: (typeof fanoutEndCodes)[number];
      readonly severity: "debug" | "info" | "warn" | "error";
      readonly problem: string;
    };

export const sessionEnds = {
  writeTimeout: (stalledMs: number): SessionEnd => ({
    code: "FANOUT_WRITE_TIMEOUT",
    severity: "info",
    problem: `client took nothing for ${Math.round(stalledMs)} ms`,
  }),
  fellBehind: {
    code: "FANOUT_FELL_BEHIND",
    severity: "warn",
    problem: "client is so far behind that deletions it has not seen are no longer known; it needs a new snapshot",
  },
  rebalancing: { code: "FANOUT_REBALANCING", severity: "info", problem: "too many connections: rebalancing" },
  handOver: {
    code: "FANOUT_HANDOVER",
    severity: "info",
    problem: "this server lost its datastore and a healthy one takes over",
  },
  shutdown: { code: "FANOUT_SHUTDOWN", severity: "info", problem: "server is shutting down" },
  flood: {
    code: "FANOUT_FLOOD",
    severity: "info",
    problem: "too many connections that have not said hello: the oldest made room",
  },
  // Not worth a line here: whoever was refused is in the log of refusals, once a minute, with the reason.
  tlsFailed: { code: "FANOUT_TLS", severity: "debug", problem: "TLS handshake failed" },
  untrusted: {
    code: "FANOUT_UNTRUSTED",
    severity: "warn",
    problem: "the client's certificate has expired, or its CA is no longer trusted",
  },
  socket: (error: Error | undefined): SessionEnd => ({
    code: "FANOUT_SOCKET",
    severity: "info",
    problem: error === undefined ? "client closed the connection" : `connection failed: ${error.message}`,
  }),
  failed: (error: unknown): SessionEnd => sessionEnds.socket(error instanceof Error ? error : new Error(String(error))),
} as const satisfies { [name: string]: SessionEnd | ((detail: never) => SessionEnd) };

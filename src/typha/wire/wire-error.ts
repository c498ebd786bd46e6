// Why a conversation ends. The protocol has no message for it: the socket is closed, and this is what the log says.

export const closeSeverity = {
  WIRE_PEER_CLOSED: "info",
  WIRE_BAD_BYTES: "info",
  WIRE_MESSAGE_TOO_LONG: "info",
  WIRE_NIL_MESSAGE: "error",
  WIRE_UNEXPECTED_MESSAGE: "error",
  WIRE_UNKNOWN_SYNCER: "error",
  WIRE_HANDSHAKE_TIMEOUT: "warn",
  WIRE_ACK_TIMEOUT: "warn",
  WIRE_PONG_TIMEOUT: "info",
  WIRE_READ_TIMEOUT: "warn",
  WIRE_INPUT_FLOOD: "warn",
  WIRE_SYNCER_MISMATCH: "error",
  WIRE_OLD_SERVER: "error",
  WIRE_BAD_RESTART: "error",
} as const;

type CloseCode = keyof typeof closeSeverity;

export type CloseReason = {
  readonly code: CloseCode;
  /** How loud the log should be: what hostile or vanished peers cause is not an error of ours. */
  readonly severity: "info" | "warn" | "error";
  /** In words, with what was seen. */
  readonly problem: string;
};

export function closeReason(code: CloseCode, problem: string): CloseReason {
  return { code, severity: closeSeverity[code], problem };
}

// Every limit a client meets. Their values come from the table of settings (server/connections/server-limits.ts);
// docs/decisions/0009-segments-and-change-log.md says what fall-behind and grace mean here.

export type FanoutLimits = {
  /** From TCP accept to a complete hello, TLS included. */
  readonly handshakeTimeoutMs: number;
  /** A client that has taken nothing of what is being written to it for this long is cut. */
  readonly writeTimeoutMs: number;
  readonly pingIntervalMs: number;
  /** For pongs, and for the acknowledgement of each decoder restart. */
  readonly pongTimeoutMs: number;
  /** A client this far behind is logged, and counted while in its grace; its backlog merges, so it is not cut. */
  readonly maxFallBehindMs: number;
  readonly newClientGraceMs: number;
  /** How long updates may gather while the server is busy. */
  readonly batchingAgeMs: number;
  /** Longest message a client may send. */
  readonly maxInboundBytes: number;
  /** Connections that have not said hello yet; beyond it the one that has been trying longest makes room. */
  readonly maxHandshaking: number;
};

/** How often deadlines are looked at: fine enough that none is missed by more than a twentieth, cheap with 10,000. */
export function tickIntervalMs(limits: FanoutLimits): number {
  const shortest = Math.min(
    limits.handshakeTimeoutMs,
    limits.writeTimeoutMs,
    limits.pingIntervalMs,
    limits.pongTimeoutMs,
  );
  return Math.min(250, Math.max(5, shortest / 20));
}

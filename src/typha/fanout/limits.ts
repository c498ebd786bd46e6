// Every limit a client meets, with the original's defaults. The settings table of config/ has the same numbers under
// their TYPHA_* names; docs/decisions/0009-segments-and-change-log.md says what fall-behind and grace mean here.

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

export const defaultFanoutLimits: FanoutLimits = {
  handshakeTimeoutMs: 10_000,
  writeTimeoutMs: 120_000,
  pingIntervalMs: 10_000,
  pongTimeoutMs: 60_000,
  maxFallBehindMs: 300_000,
  newClientGraceMs: 300_000,
  batchingAgeMs: 10,
  maxInboundBytes: 1024 * 1024,
  maxHandshaking: 4096,
};

/** As the original corrects them: a pong timeout that a punctual client could miss is replaced. */
export function corrected(limits: FanoutLimits): FanoutLimits {
  const { pingIntervalMs, pongTimeoutMs, batchingAgeMs } = limits;
  return {
    ...limits,
    pongTimeoutMs: pongTimeoutMs <= 2 * pingIntervalMs ? 6 * pingIntervalMs : pongTimeoutMs,
    batchingAgeMs: batchingAgeMs <= 0 ? 100 : batchingAgeMs,
  };
}

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

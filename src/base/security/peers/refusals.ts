// Says who was refused and why, without letting a peer that retries ten times a second fill the log: one line a minute
// for each peer and check, and a bound on how many get a line at all. The check counts, because whoever has just mended
// one fault looks here for the next.
import type { Clock, Log } from "../../lib/index.ts";
import type { CertificateFacts } from "../certificates/certificate.ts";
import type { PeerCheck } from "./verify-peer.ts";

export type Refusal = {
  readonly address: string;
  readonly check: PeerCheck;
  readonly says: string;
  readonly certificate?: CertificateFacts | undefined;
};

export type RefusalLog = { report(refusal: Refusal): void };

export function createRefusalLog(options: {
  log: Log;
  clock: Clock;
  perPeerMs?: number;
  maxPeers?: number;
}): RefusalLog {
  const { log, clock, perPeerMs = 60_000, maxPeers = 1_000 } = options;
  // In order of first line, so the oldest are at the front. A peer leaves after its minute.
  const peers = new Map<string, { refusal: Refusal; sinceMs: number; more: number }>();
  let unlisted = 0;

  function forgetOld(nowMs: number): void {
    for (const [key, { refusal, sinceMs, more }] of peers) {
      if (nowMs - sinceMs < perPeerMs) break;
      peers.delete(key);
      const { address, check } = refusal;
      if (more > 0) log.warn("Refused connections again", { address, check, count: more, seconds: perPeerMs / 1000 });
    }
    if (unlisted === 0 || peers.size >= maxPeers) return;
    log.warn("Refused connections of peers that were too many to list", { count: unlisted });
    unlisted = 0;
  }

  return {
    report(refusal) {
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      const key = `${refusal.check} ${refusal.address}`;
      const known = peers.get(key);
      if (known !== undefined) known.more += 1;
      else if (peers.size >= maxPeers) unlisted += 1;
      else {
        peers.set(key, { refusal, sinceMs: nowMs, more: 0 });
        log.warn("Refused connection", refusalFields(refusal));
      }
    },
  };
}

function refusalFields({ address, check, says, certificate }: Refusal): { [name: string]: unknown } {
  if (certificate === undefined) return { address, check, reason: says };
  const { commonName, issuer, notAfterMs } = certificate;
  return { address, check, reason: says, cn: commonName, issuer, expiry: new Date(notAfterMs).toISOString() };
}

// With TYPHA_CLOSEEXPIREDCLIENTS: looks again at the certificates of clients that are connected, and ends those that a new
// handshake would refuse, because they expired meanwhile or their CA is gone. Each certificate is looked at once for all
// the connections that showed it: the nodes of a cluster mostly share one.
import { createHash } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { isStillTrusted } from "../../../base/security/index.ts";

/** What a peer showed: its certificate and those it sent along. No more of them are kept than a chain may have. */
type Shown = { readonly leaf: Buffer; readonly sent: readonly Buffer[]; count: number };
const mostSent = 10;

export class TrustWatch {
  readonly #ends = new Map<TLSSocket, { readonly shown: string; readonly end: () => void }>();
  /** By the hash of all of it, as long as a connection that showed it is there. */
  readonly #shown = new Map<string, Shown>();

  add(socket: TLSSocket, end: () => void): void {
    const chain = shownBy(socket);
    const [leaf, ...sent] = chain;
    if (leaf === undefined) return;
    const key = chain.reduce((hash, der) => hash.update(der), createHash("sha256")).digest("base64");
    const shown = this.#shown.get(key) ?? { leaf, sent, count: 0 };
    shown.count += 1;
    this.#shown.set(key, shown);
    this.#ends.set(socket, { shown: key, end });
    socket.once("close", () => {
      this.#ends.delete(socket);
      shown.count -= 1;
      if (shown.count === 0) this.#shown.delete(key);
    });
  }

  check(ca: string, nowMs: number): void {
    const lost = new Set<string>();
    for (const [key, shown] of this.#shown) if (!isStillTrusted(shown, { ca }, nowMs)) lost.add(key);
    for (const { shown, end } of [...this.#ends.values()]) if (lost.has(shown)) end();
  }
}

/** The peer's certificate first. What comes last is the root, which Node adds from our own CA file. */
function shownBy(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let at: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (at?.raw !== undefined && chain.length <= mostSent) {
    chain.push(at.raw);
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate; // a root names itself
  }
  return chain;
}

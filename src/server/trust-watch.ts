// With TYPHA_CLOSEEXPIREDCLIENTS: looks again at the certificates of clients that are connected, and ends those that a new
// handshake would refuse, because they expired meanwhile or their CA is gone. Each certificate is looked at once for all
// the connections that showed it: the nodes of a cluster mostly share one.
import type { TLSSocket } from "node:tls";
import { isStillTrusted } from "../security/index.ts";

export class TrustWatch {
  readonly #ends = new Map<TLSSocket, { readonly der: Buffer; readonly end: () => void }>();

  add(socket: TLSSocket, end: () => void): void {
    const der = socket.getPeerX509Certificate()?.raw;
    if (der === undefined) return;
    this.#ends.set(socket, { der, end });
    socket.once("close", () => this.#ends.delete(socket));
  }

  check(ca: string, nowMs: number): void {
    const verdicts = new Map<string, boolean>();
    for (const { der, end } of [...this.#ends.values()]) {
      const key = der.toString("base64");
      const isTrusted = verdicts.get(key) ?? isStillTrusted(der, { ca }, nowMs);
      verdicts.set(key, isTrusted);
      if (!isTrusted) end();
    }
  }
}

// Certificates that peers have shown lately, as parsed. The nodes of a cluster mostly share one, and a thousand of them that
// connect at once would have it parsed a thousand times. What a certificate says never changes, so nothing here grows
// stale; whether it is still good (its chain, its dates) is OpenSSL's to say at every handshake, and is not kept.
import { type CertificateFacts, parseCertificate } from "../certificates/certificate.ts";

/** Beyond this the one that has not been shown for longest makes room. */
const mostKept = 128;
/** Peers nobody knows yet choose what they show: larger ones are parsed each time rather than kept. */
const largestKeptBytes = 4096;

export class KnownCertificates {
  readonly #factsByDer = new Map<string, CertificateFacts>();

  /** As parseCertificate(), which throws on what is no certificate. */
  readonly parse = (der: Uint8Array): CertificateFacts => {
    if (der.length > largestKeptBytes) return parseCertificate(der);
    const key = Buffer.from(der.buffer, der.byteOffset, der.length).toString("latin1");
    const known = this.#factsByDer.get(key);
    const facts = known ?? parseCertificate(der);
    if (known !== undefined) this.#factsByDer.delete(key);
    this.#factsByDer.set(key, facts); // the newest is last
    if (this.#factsByDer.size > mostKept) {
      const [longest] = this.#factsByDer.keys();
      if (longest !== undefined) this.#factsByDer.delete(longest);
    }
    return facts;
  };

  get size(): number {
    return this.#factsByDer.size;
  }
}

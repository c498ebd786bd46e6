// The certificates that a server sends: its own, and those that lead from it to a root in the CA file. OpenSSL would find
// them by itself, but anew for each handshake, signatures and all.
import { X509Certificate } from "node:crypto";
import { certificatesInPem, toPem } from "../certificates/pem.ts";

const longestChain = 10;

/** As PEM. A file that brings more than the server's own certificate is sent as it is, as OpenSSL does. */
export function sentChain({ cert, ca }: { readonly cert: string; readonly ca: string }): string {
  const own = certificatesInPem(cert);
  const [leaf] = own;
  if (leaf === undefined || own.length > 1) return cert;
  const authorities = certificatesInPem(ca).map((der) => new X509Certificate(der));
  const chain: X509Certificate[] = [];
  let at: X509Certificate | undefined = new X509Certificate(leaf);
  while (at !== undefined && !issued(at, at) && chain.length < longestChain) {
    const current: X509Certificate = at;
    at = authorities.find((authority) => issued(authority, current));
    if (at !== undefined) chain.push(at);
  }
  return chain.length === 0 ? cert : cert + chain.map(({ raw }) => toPem("CERTIFICATE", raw)).join("");
}

export function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

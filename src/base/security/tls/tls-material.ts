// A certificate, its key and the CAs to trust, read and found to belong together. Plain strings and data, so that a
// worker thread can be sent the material and build its own context from it (tls-options.ts).
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { CattailError, messageOf } from "../../lib/index.ts";
import { type CertificateFacts, parseCertificate, usages } from "../certificates/certificate.ts";
import { certificatesInPem, pemBlocks, toPem } from "../certificates/pem.ts";
import { tlsPolicy } from "./cipher-suites.ts";
import { issued } from "./sent-chain.ts";
import { tlsServerOptions } from "./tls-options.ts";

/** An empty `caFile` is for servers that ask nobody for a certificate: the metrics over HTTPS. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string; readonly caFile: string };

export type TlsMaterial = {
  /** PEM written anew from what was read and checked: OpenSSL reads PEM by other rules, and Node passes over a bad `ca`. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  /** Our own certificate, the first in the certificate file. */
  readonly certificate: CertificateFacts;
  readonly authorities: readonly CertificateFacts[];
  /** Certificates begun in the CA file that nobody can read. The others are used, as in Go. */
  readonly unreadableAuthorities: number;
  /** Changes whenever one of the three files' contents does. */
  readonly fingerprint: string;
};

/** Something about material that parses: it can be used, but somebody will be refused because of it. */
export type TlsProblem = {
  readonly code:
    | "TLS_CERTIFICATE_EXPIRED"
    | "TLS_CERTIFICATE_NOT_YET_VALID"
    | "TLS_NO_CHAIN"
    | "TLS_PURPOSE"
    | "TLS_CA_EXPIRED"
    | "TLS_CA_NO_ROOT";
  readonly says: string;
};

export async function loadTlsMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([
    readText(files.certFile, "certificate"),
    readText(files.keyFile, "key"),
    files.caFile === "" ? "" : readText(files.caFile, "CA"),
  ]);
  return parseTlsMaterial({ cert, key, ca }, files);
}

/** Throws when the texts are no certificate, key and CA, when the key is another certificate's, or OpenSSL refuses them. */
export function parseTlsMaterial(pem: { cert: string; key: string; ca: string }, files?: TlsFiles): TlsMaterial {
  const { certFile, keyFile, caFile } = files ?? { certFile: "the certificate", keyFile: "the key", caFile: "the CA" };
  const [leaf, ...intermediates] = certificatesInPem(pem.cert).map((der) => readCertificate(der, certFile));
  if (leaf === undefined) throw invalid(certFile, noCertificate);
  const authorities = caFile === "" ? [] : authoritiesIn(pem.ca, caFile);
  const key = privateKey(pem.key, keyFile);
  if (!leaf.x509.checkPrivateKey(key.object)) {
    throw new CattailError("TLS_KEY_MISMATCH", {
      problem: `${keyFile} is not the key of ${certFile}`,
      next: "Use a certificate and a key that belong together. If you are replacing them now, wait until both files are written",
    });
  }
  const checked = {
    cert: [leaf, ...intermediates].map(({ der }) => toPem("CERTIFICATE", der)).join(""),
    key: key.pem,
    ca: authorities.map(({ der }) => toPem("CERTIFICATE", der)).join(""),
  };
  tryMaterial(checked, certFile);
  return {
    ...checked,
    certificate: leaf.facts,
    authorities: authorities.map(({ facts }) => facts),
    unreadableAuthorities: caFile === "" ? 0 : Math.max(0, certificatesBegun(pem.ca) - authorities.length),
    fingerprint: createHash("sha256")
      .update(JSON.stringify([pem.cert, pem.key, pem.ca]))
      .digest("hex"),
  };
}

/** Also where the beginning is indented, or joined to the end before it; not in a comment. */
function certificatesBegun(text: string): number {
  return text.match(/^(?!\s*#).*-----BEGIN CERTIFICATE-----/gm)?.length ?? 0;
}

/**
 * Whom the files are for. The CA of the metrics judges those who come for them; whoever issued the certificate that they
 * are served with need not be the same.
 */
export type TlsRole = "server" | "client" | "metrics";

/** What is wrong at this moment with material that parses; `role` is ours. */
export function tlsProblems(material: TlsMaterial, options: { nowMs: number; role: TlsRole }): TlsProblem[] {
  const { certificate, authorities } = material;
  const { nowMs, role } = options;
  const found: TlsProblem[] = [];
  if (certificate.notAfterMs <= nowMs) {
    found.push({
      code: "TLS_CERTIFICATE_EXPIRED",
      says: `the certificate expired on ${dateText(certificate.notAfterMs)}`,
    });
  } else if (certificate.notBeforeMs > nowMs) {
    const says = `the certificate is not valid before ${dateText(certificate.notBeforeMs)}`;
    found.push({ code: "TLS_CERTIFICATE_NOT_YET_VALID", says });
  }
  if (authorities.length > 0) found.push(...authorityProblems(material, options));
  const usage = role === "client" ? "clientAuth" : "serverAuth";
  const allowed = certificate.extendedKeyUsages;
  if (allowed !== undefined && !allowed.includes(usages[usage]) && !allowed.includes(usages.any)) {
    found.push({ code: "TLS_PURPOSE", says: `the certificate is not meant for ${usage}, so peers refuse it` });
  } else if (role === "client" && !maySignAsClient(certificate)) {
    const says = `the certificate's key usage (${certificate.keyUsages?.join(", ")}) lacks digitalSignature, so servers refuse it`;
    found.push({ code: "TLS_PURPOSE", says });
  }
  return found;
}

/** OpenSSL's rule for clients. Go has none. */
function maySignAsClient({ keyUsages }: CertificateFacts): boolean {
  return keyUsages === undefined || keyUsages.includes("digitalSignature") || keyUsages.includes("keyAgreement");
}

function authorityProblems(material: TlsMaterial, { nowMs, role }: { nowMs: number; role: TlsRole }): TlsProblem[] {
  const { certificate, authorities } = material;
  const found: TlsProblem[] = [];
  if (authorities.every((authority) => authority.notAfterMs <= nowMs)) {
    found.push({ code: "TLS_CA_EXPIRED", says: "every CA in the CA file has expired" });
  }
  if (role !== "client" && !authorities.some((authority) => authority.subject === authority.issuer)) {
    const says = "the CA file holds no self-signed root, and a chain must end in one here, so every client is refused";
    found.push({ code: "TLS_CA_NO_ROOT", says });
  }
  if (role !== "metrics" && !chains(material)) {
    const says = `no CA in the CA file issued the certificate (its issuer is ${JSON.stringify(certificate.issuer)})`;
    found.push({ code: "TLS_NO_CHAIN", says });
  }
  return found;
}

/**
 * Whether a peer that was admitted earlier would be admitted again: its certificate has not run out, and a CA of the
 * material in use still leads to it, over the certificates that the peer sent along.
 */
export function isStillTrusted(
  peer: { readonly leaf: Uint8Array; readonly sent: readonly Uint8Array[] },
  material: Pick<TlsMaterial, "ca">,
  nowMs: number,
): boolean {
  const leaf = lasting(peer.leaf, nowMs);
  if (leaf === undefined) return false;
  const readable = (ders: readonly Uint8Array[]) =>
    ders.map((der) => lasting(der, nowMs)).filter((certificate) => certificate !== undefined);
  return leadsTo(readable(certificatesInPem(material.ca)), { leaf, sent: readable(peer.sent) });
}

/** Undefined: it has run out, or cannot be read. Nobody has looked at all that a peer sends along. */
function lasting(der: Uint8Array, nowMs: number): X509Certificate | undefined {
  try {
    return parseCertificate(der).notAfterMs > nowMs ? new X509Certificate(der) : undefined;
  } catch {
    return undefined; // it leads nowhere
  }
}

// Whether the signatures lead from our certificate, over others in its file, to one in the CA file. Dates are looked
// at apart, so that "expired" is not reported as "does not chain".
function chains(material: TlsMaterial): boolean {
  const [leaf, ...sent] = certificatesInPem(material.cert).map((der) => new X509Certificate(der));
  const authorities = certificatesInPem(material.ca).map((der) => new X509Certificate(der));
  return leadsTo(authorities, { leaf, sent });
}

function leadsTo(
  authorities: readonly X509Certificate[],
  { leaf, sent }: { leaf: X509Certificate | undefined; sent: readonly X509Certificate[] },
): boolean {
  for (let at = leaf, steps = 0; at !== undefined && steps < 10; steps++) {
    const current: X509Certificate = at;
    if (authorities.some((authority) => authority.raw.equals(current.raw) || issued(authority, current))) return true;
    at = sent.find((candidate) => !candidate.raw.equals(current.raw) && issued(candidate, current));
  }
  return false;
}

type ReadCertificate = { readonly der: Buffer; readonly x509: X509Certificate; readonly facts: CertificateFacts };

const noCertificate = "holds no certificate, or only a part of one";

function readCertificate(der: Buffer, where: string): ReadCertificate {
  try {
    return { der, x509: new X509Certificate(der), facts: parseCertificate(der) };
  } catch (error) {
    throw invalid(where, "holds a certificate that cannot be read", error);
  }
}

// As Go fills a pool: whatever it can read, and that must be something.
function authoritiesIn(pem: string, where: string): ReadCertificate[] {
  let unreadable: unknown;
  const found = pemBlocks(pem).flatMap(({ label, hasHeaders, der }) => {
    if (label !== "CERTIFICATE" || hasHeaders) return [];
    try {
      return [readCertificate(der, where)];
    } catch (error) {
      unreadable = error;
      return [];
    }
  });
  if (found.length === 0) throw unreadable ?? invalid(where, noCertificate);
  return found;
}

function privateKey(text: string, where: string): { object: ReturnType<typeof createPrivateKey>; pem: string } {
  try {
    // Parameters of the curve may come before it.
    const block = pemBlocks(text).find(({ label }) => label.endsWith("PRIVATE KEY"));
    // Headers mean nothing, as in Go, unless they say how it is encrypted: then what is inside is no key.
    const pem = block === undefined ? text : toPem(block.label, block.der);
    return { object: createPrivateKey(pem), pem };
  } catch (error) {
    throw new CattailError("TLS_KEY_INVALID", {
      problem: `${where} contains no readable private key`,
      next: "It must be a complete, unencrypted PEM key (PKCS#8, PKCS#1 or SEC1)",
      cause: error,
    });
  }
}

// What a certificate may be like (its key's size, its signature) is OpenSSL's to say, and it says so only when a context
// is made: here, before anything depends on it. No policy has a part in that.
function tryMaterial(material: Pick<TlsMaterial, "cert" | "key" | "ca">, where: string): void {
  try {
    createSecureContext(tlsServerOptions(material, tlsPolicy()));
  } catch (error) {
    throw new CattailError("TLS_CERTIFICATE_INVALID", {
      problem: `${where} cannot be used by the server (${messageOf(error)})`,
      next: "Make another pair: an ECDSA P-256 key or an RSA key of at least 2048 bits, and a SHA-256 signature or better",
      cause: error,
    });
  }
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CattailError("TLS_FILE_UNREADABLE", {
      problem: `the ${what} file ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
      next: "Check that the file is mounted there, and that this user may read it",
      cause: error,
    });
  }
}

function invalid(where: string, problem: string, cause?: unknown): CattailError {
  return new CattailError("TLS_CERTIFICATE_INVALID", {
    problem: `${where} ${problem}`,
    next: `It must be PEM: from a line "-----BEGIN CERTIFICATE-----" to its END line; "cattail certs inspect" shows what is in a file`,
    ...(cause === undefined ? {} : { cause }),
  });
}

function dateText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

// A certificate, its key and the CAs to trust, read and found to belong together. Plain strings and data, so that a
// worker thread can be sent the material and build its own context from it (tls-options.ts).
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { CattailError } from "../lib/index.ts";
import { type CertificateFacts, parseCertificate, usages } from "./certificate.ts";
import { certificatesInPem } from "./pem.ts";

/** An empty `caFile` is for servers that ask nobody for a certificate: the metrics over HTTPS. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string; readonly caFile: string };

export type TlsMaterial = {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  /** Our own certificate, the first in the certificate file. */
  readonly certificate: CertificateFacts;
  readonly authorities: readonly CertificateFacts[];
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

/** Throws when the texts are no certificate, key and CA, or when the key is another certificate's. */
export function parseTlsMaterial(pem: { cert: string; key: string; ca: string }, files?: TlsFiles): TlsMaterial {
  const certs = certificatesIn(pem.cert, files?.certFile ?? "the certificate");
  const authorities = files?.caFile === "" ? [] : certificatesIn(pem.ca, files?.caFile ?? "the CA");
  const [leaf] = certs;
  if (leaf === undefined) throw invalid(files?.certFile ?? "the certificate", "holds no certificate");
  if (!leaf.x509.checkPrivateKey(privateKey(pem.key, files?.keyFile ?? "the key"))) {
    throw new CattailError("TLS_KEY_MISMATCH", {
      problem: `${files?.keyFile ?? "the key"} is not the key of ${files?.certFile ?? "the certificate"}`,
      next: "Put the certificate and the key that were made together in place; if they are being replaced, wait for both",
    });
  }
  return {
    ...pem,
    certificate: leaf.facts,
    authorities: authorities.map(({ facts }) => facts),
    fingerprint: createHash("sha256")
      .update(JSON.stringify([pem.cert, pem.key, pem.ca]))
      .digest("hex"),
  };
}

/** What is wrong at this moment with material that parses; `role` is ours. */
export function tlsProblems(
  material: TlsMaterial,
  options: { nowMs: number; role: "server" | "client" },
): TlsProblem[] {
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
  const usage = role === "server" ? "serverAuth" : "clientAuth";
  const allowed = certificate.extendedKeyUsages;
  if (allowed !== undefined && !allowed.includes(usages[usage]) && !allowed.includes(usages.any)) {
    found.push({ code: "TLS_PURPOSE", says: `the certificate is not meant for ${usage}, so peers refuse it` });
  }
  return found;
}

function authorityProblems(
  material: TlsMaterial,
  { nowMs, role }: { nowMs: number; role: "server" | "client" },
): TlsProblem[] {
  const { certificate, authorities } = material;
  const found: TlsProblem[] = [];
  if (authorities.every((authority) => authority.notAfterMs <= nowMs)) {
    found.push({ code: "TLS_CA_EXPIRED", says: "every CA in the CA file has expired" });
  }
  if (role === "server" && !authorities.some((authority) => authority.subject === authority.issuer)) {
    const says = "the CA file holds no self-signed root, and a chain must end in one here, so every client is refused";
    found.push({ code: "TLS_CA_NO_ROOT", says });
  }
  if (!chains(material)) {
    const says = `no CA in the CA file issued the certificate (its issuer is ${JSON.stringify(certificate.issuer)})`;
    found.push({ code: "TLS_NO_CHAIN", says });
  }
  return found;
}

/**
 * Whether a peer that was admitted earlier would be admitted again: its certificate has not run out, and a CA of the
 * material in use still leads to it. Intermediates that the peer sent are not known any more, so only what the CA file
 * itself holds is looked at.
 */
export function isStillTrusted(peer: Uint8Array, material: Pick<TlsMaterial, "ca">, nowMs: number): boolean {
  const certificate = new X509Certificate(peer);
  if (parseCertificate(peer).notAfterMs <= nowMs) return false;
  const authorities = certificatesInPem(material.ca).map((der) => new X509Certificate(der));
  return authorities.some((authority) => authority.raw.equals(certificate.raw) || issued(authority, certificate));
}

// Whether the signatures lead from our certificate, over others in its file, to one in the CA file. Dates are looked
// at apart, so that "expired" is not reported as "does not chain".
function chains(material: TlsMaterial): boolean {
  const [leaf, ...intermediates] = certificatesInPem(material.cert).map((der) => new X509Certificate(der));
  const authorities = certificatesInPem(material.ca).map((der) => new X509Certificate(der));
  for (let at = leaf, steps = 0; at !== undefined && steps < 10; steps++) {
    const current: X509Certificate = at;
    if (authorities.some((authority) => authority.raw.equals(current.raw) || issued(authority, current))) return true;
    at = intermediates.find((candidate) => !candidate.raw.equals(current.raw) && issued(candidate, current));
  }
  return false;
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function certificatesIn(pem: string, where: string): { x509: X509Certificate; facts: CertificateFacts }[] {
  const ders = certificatesInPem(pem);
  if (ders.length === 0) throw invalid(where, "holds no certificate");
  return ders.map((der) => {
    try {
      return { x509: new X509Certificate(der), facts: parseCertificate(der) };
    } catch (error) {
      throw invalid(where, "holds a certificate that cannot be read", error);
    }
  });
}

function privateKey(pem: string, where: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new CattailError("TLS_KEY_INVALID", {
      problem: `${where} holds no private key that can be read`,
      next: "It must be an unencrypted PEM key (PKCS#8, PKCS#1 or SEC1)",
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
      next: "Check that it is mounted there and readable by this user",
      cause: error,
    });
  }
}

function invalid(where: string, problem: string, cause?: unknown): CattailError {
  return new CattailError("TLS_CERTIFICATE_INVALID", {
    problem: `${where} ${problem}`,
    next: `It must be PEM, with "-----BEGIN CERTIFICATE-----"; "cattail certs inspect" shows what a file holds`,
    ...(cause === undefined ? {} : { cause }),
  });
}

function dateText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

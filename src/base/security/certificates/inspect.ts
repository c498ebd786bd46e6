// What a PEM file holds, for people and for programs: `cattail certs inspect`, doctor and the /certs endpoint.
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { messageOf, plainLine } from "../../lib/index.ts";
import { type CertificateFacts, parseCertificate, usages } from "./certificate.ts";
import { certificatesInPem, type PemBlock, pemBlocks, toPem } from "./pem.ts";

export type Inspected =
  | (CertificateFacts & {
      readonly is: "certificate";
      readonly sha256: string;
      readonly keyType: string;
      /** Whole days until it expires; negative once it has. */
      readonly daysLeft: number;
      readonly status: "valid" | "expires soon" | "expired" | "not yet valid";
    })
  | { readonly is: "private key"; readonly keyType: string }
  | { readonly is: "unreadable"; readonly why: string };

const dayMs = 86_400_000;
const soonDays = 30;

export function inspectPem(pem: string, nowMs: number): Inspected[] {
  const found: Inspected[] = certificatesInPem(pem).map((der) => inspectCertificate(der, nowMs));
  const blocks = pemBlocks(pem);
  for (const block of blocks) if (block.label.endsWith("PRIVATE KEY")) found.push(inspectKey(block));
  if (found.length > 0) return found;
  const isTorn = blocks.length === 0 && pem.includes("-----BEGIN ");
  const why = isTorn
    ? "it holds only a part of a PEM block, or one that does not start and end its lines"
    : `it holds no PEM certificate or private key${blocks.length === 0 ? "" : `, but: ${blocks.map(({ label }) => label).join(", ")}`}`;
  return [{ is: "unreadable", why }];
}

export function describeInspected(inspected: Inspected): string {
  if (inspected.is === "unreadable") return plainLine(`unreadable: ${inspected.why}`);
  if (inspected.is === "private key") return `private key: ${inspected.keyType}`;
  const { subject, issuer, daysLeft, status, notAfterMs, keyType, serial, sha256 } = inspected;
  const names = [
    ...inspected.dnsSans.map((name) => `DNS:${name}`),
    ...inspected.ipSans.map((address) => `IP:${address}`),
    ...inspected.uriSans.map((uri) => `URI:${uri}`),
  ];
  // Of whole days, rounded down: -1 is within the last.
  const left = daysLeft < 0 ? `${daysText(-daysLeft - 1)} ago` : `in ${daysText(daysLeft)}`;
  return [
    `certificate: ${subject === "" ? "(no subject)" : subject}${inspected.isAuthority ? " (CA)" : ""}`,
    `  issuer:  ${issuer}${issuer === subject ? " (itself)" : ""}`,
    `  expires: ${new Date(notAfterMs).toISOString().slice(0, 19)}Z, ${left} (${status})`,
    `  used by: ${usageText(inspected.extendedKeyUsages)}`,
    ...(names.length === 0 ? [] : [`  names:   ${names.join(", ")}`]),
    `  key:     ${keyType}`,
    `  serial:  ${serial}`,
    `  sha256:  ${sha256}`,
  ]
    .map(plainLine) // names are whatever their authority has signed
    .join("\n");
}

function daysText(days: number): string {
  return days === 0 ? "less than a day" : days === 1 ? "1 day" : `${days} days`;
}

function inspectCertificate(der: Buffer, nowMs: number): Inspected {
  try {
    const facts = parseCertificate(der);
    const daysLeft = Math.floor((facts.notAfterMs - nowMs) / dayMs);
    const keyType = keyText(new X509Certificate(der).publicKey);
    const sha256 = createHash("sha256").update(der).digest("hex");
    return { is: "certificate", ...facts, sha256, keyType, daysLeft, status: statusOf(facts, nowMs) };
  } catch (error) {
    return { is: "unreadable", why: `a certificate with ${messageOf(error)}` };
  }
}

function inspectKey({ label, hasHeaders, der }: PemBlock): Inspected {
  const encrypted: Inspected = {
    is: "unreadable",
    why: "a private key that is encrypted, which no server here can use",
  };
  if (label === "ENCRYPTED PRIVATE KEY") return encrypted;
  try {
    return { is: "private key", keyType: keyText(createPrivateKey(toPem(label, der))) };
  } catch (error) {
    // The older way to encrypt a key says so in a header (DEK-Info).
    return hasHeaders ? encrypted : { is: "unreadable", why: `a private key: ${messageOf(error)}` };
  }
}

function statusOf({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number) {
  if (notAfterMs <= nowMs) return "expired";
  if (notBeforeMs > nowMs) return "not yet valid";
  return notAfterMs - nowMs < soonDays * dayMs ? "expires soon" : "valid";
}

function keyText(key: ReturnType<typeof createPrivateKey>): string {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (namedCurve !== undefined) return `ECDSA ${namedCurve === "prime256v1" ? "P-256" : namedCurve}`;
  if (modulusLength !== undefined) return `RSA ${modulusLength}`;
  return key.asymmetricKeyType ?? "unknown";
}

function usageText(allowed: readonly string[] | undefined): string {
  if (allowed === undefined) return "anything (no extended key usage)";
  const name = new Map<string, string>([
    [usages.serverAuth, "servers"],
    [usages.clientAuth, "clients"],
    [usages.any, "anything"],
  ]);
  return allowed.map((oid) => name.get(oid) ?? oid).join(", ");
}

// Decides whether a peer whose certificate chains to the CA is the peer we mean: the original's rule, common name or
// URI SAN, either is enough. The chain itself and the validity period are OpenSSL's work, done before this.
import { messageOf } from "../../lib/index.ts";
import { type CertificateFacts, parseCertificate, usages } from "../certificates/certificate.ts";
import { certificatesInPem } from "../certificates/pem.ts";

/** What the peer must be called. An empty or missing name is not asked for. */
export type PeerRequirement = { readonly commonName?: string; readonly uriSan?: string };

/** What can keep a peer out. A fixed list: it is also the list of values of a metric's label. */
export const peerChecks = [
  "no-certificate",
  "unreadable-certificate",
  "untrusted-ca",
  "expired",
  "not-yet-valid",
  "extended-key-usage",
  "common-name",
  "uri-san",
  "common-name-or-uri-san",
  "tls-version",
  "not-tls",
  "refused-by-peer",
  "handshake-timeout",
  "handshake",
] as const;
export type PeerCheck = (typeof peerChecks)[number];

export type PeerVerdict =
  | { readonly accepted: true; readonly certificate: CertificateFacts }
  | {
      readonly accepted: false;
      readonly check: PeerCheck;
      readonly says: string;
      readonly certificate?: CertificateFacts;
    };

/**
 * `der` is the leaf certificate's bytes, undefined where the peer sent none; `role` is what the peer says it is. Whoever
 * verifies many may hand in a parser that remembers.
 */
export function verifyPeer(
  der: Uint8Array | undefined,
  options: { requirement: PeerRequirement; role: "client" | "server"; parse?: (der: Uint8Array) => CertificateFacts },
): PeerVerdict {
  if (der === undefined) return { accepted: false, check: "no-certificate", says: "the peer sent no certificate" };
  let certificate: CertificateFacts;
  try {
    certificate = (options.parse ?? parseCertificate)(der);
  } catch (error) {
    return { accepted: false, check: "unreadable-certificate", says: `its certificate has ${messageOf(error)}` };
  }
  const usage = options.role === "client" ? "clientAuth" : "serverAuth";
  const allowed = certificate.extendedKeyUsages;
  // A certificate without the extension may be used for everything: openssl makes such ones by default.
  if (allowed !== undefined && !allowed.includes(usages[usage]) && !allowed.includes(usages.any)) {
    const says = `its certificate is not meant for ${usage} (extended key usage)`;
    return { accepted: false, check: "extended-key-usage", says, certificate };
  }
  return checkIdentity(certificate, options.requirement);
}

/** What whoever has the same certificate, or another of the same name, is called. Undefined where it has no name at all. */
export function identityOf(certPem: string): PeerRequirement | undefined {
  const [der] = certificatesInPem(certPem);
  if (der === undefined) return undefined;
  const { commonName, uriSans } = parseCertificate(der);
  const [uriSan] = uriSans;
  if (commonName !== "") return { commonName };
  return uriSan === undefined ? undefined : { uriSan };
}

/** The rule of the two names by itself. */
export function checkIdentity(certificate: CertificateFacts, requirement: PeerRequirement): PeerVerdict {
  const { commonName = "", uriSan = "" } = requirement;
  if (commonName === "" && uriSan === "") return { accepted: true, certificate };
  if (commonName !== "" && certificate.commonName === commonName) return { accepted: true, certificate };
  if (uriSan !== "" && certificate.uriSans.includes(uriSan)) return { accepted: true, certificate };
  const wanted = [
    ...(commonName === ""
      ? []
      : [`CN ${JSON.stringify(commonName)} (it has ${JSON.stringify(certificate.commonName)})`]),
    ...(uriSan === "" ? [] : [`URI SAN ${JSON.stringify(uriSan)} (it has ${listText(certificate.uriSans)})`]),
  ];
  const check = commonName === "" ? "uri-san" : uriSan === "" ? "common-name" : "common-name-or-uri-san";
  return {
    accepted: false,
    check,
    says: `its certificate does not have the required ${wanted.join(" or ")}`,
    certificate,
  };
}

function listText(values: readonly string[]): string {
  return values.length === 0 ? "none" : values.map((value) => JSON.stringify(value)).join(", ");
}

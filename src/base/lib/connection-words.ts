// Why a connection did not come about, in words. What Node and OpenSSL say of it ("wrong version number", a file and line of
// OpenSSL's source) tells nobody that a port is the wrong one or a CA file another cluster's.

const notTls = "what answers there does not speak TLS: another port, or a server without TLS";
const otherCa = "its certificate was not issued by a CA in our CA file";
const refusedOurs =
  "it refused our certificate: its CA file does not have the CA that issued ours, or it expects another name";

const wordsByCode: { readonly [code: string]: string } = {
  ECONNREFUSED: "nobody listens there",
  ECONNRESET: "the other side closed the connection before it was open",
  EPIPE: "the other side closed the connection",
  ETIMEDOUT: "no answer: the machine is away, or a firewall drops the packets",
  EHOSTUNREACH: "there is no route to this address",
  ENETUNREACH: "there is no route to this network",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the name cannot be looked up: the name server does not answer",
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  ERR_SSL_HTTP_REQUEST: notTls,
  ERR_SSL_UNEXPECTED_MESSAGE: notTls,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: otherCa,
  UNABLE_TO_GET_ISSUER_CERT: otherCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: otherCa,
  SELF_SIGNED_CERT_IN_CHAIN: otherCa,
  DEPTH_ZERO_SELF_SIGNED_CERT: otherCa,
  CERT_SIGNATURE_FAILURE: otherCa,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet; often a clock is wrong",
  INVALID_PURPOSE: "its certificate is not meant for servers (extended key usage)",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name or address",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: refusedOurs,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: refusedOurs,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: refusedOurs,
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    "it refused our certificate: it is not meant for clients (extended key usage)",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: "it refused our certificate: it has expired",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "it wants a client certificate, and we showed none",
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: "it offers no TLS version that is allowed here",
  ERR_SSL_UNSUPPORTED_PROTOCOL: "it offers no TLS version that is allowed here",
};

/**
 * Whose fault it was, as far as the error tells. "certificate": we do not take theirs; "refused": they do not take ours;
 * "protocol": the two do not speak the same TLS, or one of them none; "cut": it was open and ended without a word.
 */
export type ConnectionFault = "certificate" | "refused" | "protocol" | "cut" | "other";

const verification =
  /^(UNABLE_TO_|CERT_|CRL_|ERROR_IN_C|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|ERR_TLS_CERT_|HOSTNAME_MISMATCH$|TLS_PEER_REFUSED$)/;
const refusal =
  /^ERR_SSL_.*ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|NO_CERTIFICATE)/;

export function connectionFault(error: unknown): ConnectionFault {
  const code = codeOf(error);
  if (verification.test(code)) return "certificate";
  if (refusal.test(code)) return "refused";
  if (code.startsWith("ERR_SSL_")) return "protocol";
  return code === "ECONNRESET" || code === "EPIPE" ? "cut" : "other";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** With the code, for those who search for it. An error that is not known here keeps its own words. */
export function connectionWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const words = wordsByCode[code];
  if (words !== undefined) return `${words} (${code})`;
  // OpenSSL's own words are among places in its source; Node has them by themselves as well.
  const reason =
    "reason" in error && code.startsWith("ERR_SSL_") ? `TLS failed: ${String(error.reason)} (${code})` : undefined;
  return reason ?? error.message;
}

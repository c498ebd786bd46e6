// Stands between a TLS server and whoever serves its clients: hands over those whose certificate is right, destroys the
// rest and says why. Every way a handshake can fail ends here as one Refusal.
import type { Server, TLSSocket } from "node:tls";
import type { CertificateFacts } from "../certificates/certificate.ts";
import { KnownCertificates } from "./known-certificates.ts";
import type { Refusal } from "./refusals.ts";
import { type PeerCheck, type PeerRequirement, verifyPeer } from "./verify-peer.ts";

export function admitPeers(
  server: Server,
  options: {
    /** May depend on what the peer asks for; what is empty asks for no name. */
    requirement: PeerRequirement | ((socket: TLSSocket) => PeerRequirement);
    admit(socket: TLSSocket, certificate: CertificateFacts): void;
    refuse(refusal: Refusal): void;
  },
): void {
  const { requirement, admit, refuse } = options;
  const remembered = rememberPeers(server);
  const { parse } = new KnownCertificates();

  server.on("secureConnection", (socket) => {
    const der = remembered.get(socket)?.der ?? socket.getPeerX509Certificate()?.raw;
    remembered.delete(socket);
    const required = typeof requirement === "function" ? requirement(socket) : requirement;
    const verdict = verifyPeer(der, { requirement: required, role: "client", parse });
    if (verdict.accepted) return admit(socket, verdict.certificate);
    const { check, says, certificate } = verdict;
    refuse({ address: addressOf(socket), check, says, certificate });
    // Nothing may be listening yet, and a reset that arrives meanwhile would otherwise end the process.
    socket.on("error", ignoreLateError);
    socket.destroy();
  });

  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    const code = authorizationCode(socket) ?? error.code ?? "";
    const { der, address = addressOf(socket) } = remembered.get(socket) ?? {};
    const { certificate } = verifyPeer(der, { requirement: {}, role: "client", parse });
    const check = checkOf(code);
    // A peer that only opens and closes (a TCP health check) is no refusal, nor is one whose question we do not answer
    // (server/listening/freshness.ts).
    if (code !== "ECONNRESET" && code !== "ERR_SSL_NO_APPLICATION_PROTOCOL") {
      const says = check === "handshake" ? `TLS handshake failed: ${code} ${error.message}` : refusalText(check, code);
      refuse({ address, check, says, certificate });
    }
    socket.on("error", ignoreLateError);
    socket.destroy();
  });
}

const checksByCode: ReadonlyMap<string, PeerCheck> = new Map([
  ["CERT_HAS_EXPIRED", "expired"],
  ["CERT_NOT_YET_VALID", "not-yet-valid"],
  ["INVALID_PURPOSE", "extended-key-usage"],
  ["UNSUPPORTED_CERTIFICATE_PURPOSE", "extended-key-usage"],
  ["ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE", "no-certificate"],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", "tls-version"],
  ["ERR_SSL_VERSION_TOO_LOW", "tls-version"],
  ["ERR_SSL_NO_SHARED_CIPHER", "tls-version"],
  ["ERR_SSL_HTTP_REQUEST", "not-tls"],
  ["ERR_SSL_HTTPS_PROXY_REQUEST", "not-tls"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "not-tls"],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "not-tls"],
  ["ERR_SSL_UNEXPECTED_MESSAGE", "not-tls"],
  ["ERR_SSL_UNKNOWN_PROTOCOL", "not-tls"],
  ["ERR_TLS_HANDSHAKE_TIMEOUT", "handshake-timeout"],
]);

/** Which check an error code of Node's or OpenSSL's stands for. */
export function checkOf(code: string): PeerCheck {
  const known = checksByCode.get(code);
  if (known !== undefined) return known;
  // The peer read our certificate, did not like it, and said so before it hung up.
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code))
    return "refused-by-peer";
  if (/^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|INVALID_CA|PATH_LENGTH|CA_|EE_)/.test(code)) return "untrusted-ca";
  return "handshake";
}

function refusalText(check: PeerCheck, code: string): string {
  switch (check) {
    case "no-certificate":
      return "the peer sent no certificate";
    case "expired":
      return "its certificate has expired";
    case "not-yet-valid":
      return "its certificate is not valid yet";
    case "extended-key-usage":
      return "its certificate is not meant for clients: its key usage (needs digitalSignature) or its extended key usage (needs clientAuth)";
    case "untrusted-ca":
      return `its certificate does not chain to the CA file (${code})`;
    case "tls-version":
      return "it offers no TLS version or cipher suite that is allowed here";
    case "not-tls":
      return "it does not speak TLS";
    case "refused-by-peer":
      return `it refused our certificate (${code}): its CA file, or the server name it expects, does not fit`;
    case "handshake-timeout":
      return "it did not finish the TLS handshake in time";
    default:
      return code;
  }
}

// With rejectUnauthorized, Node destroys a socket whose chain is bad before anyone is told, and its certificate and
// address go with it. The only public event that names the socket earlier is "keylog", so it is what we hook; the key
// material that comes along is dropped unread. (The other way, to let everyone in and look at `authorized` afterwards,
// leaves the door open for whoever forgets to look.)
type RememberedPeer = { readonly address: string; der?: Buffer };

function rememberPeers(server: Server): WeakMap<TLSSocket, RememberedPeer> {
  const remembered = new WeakMap<TLSSocket, RememberedPeer>();
  server.on("keylog", (_line, socket) => {
    socket.removeAllListeners("keylog"); // a handshake has five of them; the first has said all that is wanted
    if (remembered.has(socket)) return;
    const peer: RememberedPeer = { address: addressOf(socket) };
    remembered.set(socket, peer);
    socket.prependOnceListener("secure", () => {
      const der = socket.getPeerX509Certificate()?.raw;
      if (der !== undefined) peer.der = der;
    });
  });
  return remembered;
}

// Node types this as Error, and sets OpenSSL's code, a string (tls.js, onServerSocketSecure).
function authorizationCode(socket: TLSSocket): string | undefined {
  const code: unknown = socket.authorizationError;
  return typeof code === "string" ? code : undefined;
}

function addressOf(socket: TLSSocket): string {
  return socket.remoteAddress ?? "unknown";
}

function ignoreLateError(): void {
  // The socket is being destroyed; what went wrong has been reported.
}

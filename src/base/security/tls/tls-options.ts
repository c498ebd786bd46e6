// The options of every TLS socket we open or accept, made in one place so that a reload cannot lose one: given without
// minVersion, setSecureContext() falls back to Node's own minimum, and says nothing.
import { constants } from "node:crypto";
import type { ConnectionOptions, TlsOptions } from "node:tls";
import { type PeerRequirement, verifyPeer } from "../peers/verify-peer.ts";
import type { TlsPolicy } from "./cipher-suites.ts";
import { sentChain } from "./sent-chain.ts";

/** Of what was loaded and checked (tls-material.ts), as much as a socket needs. */
type PemTexts = { readonly cert: string; readonly key: string; readonly ca: string };

/** For tls.createServer(), and again, whole, for server.setSecureContext() after a reload. */
export function tlsServerOptions(
  material: PemTexts,
  policy: TlsPolicy,
  options: { handshakeTimeoutMs?: number } = {},
): TlsOptions {
  return {
    ...contextOptions(material, policy),
    cert: sentChain(material),
    requestCert: true,
    rejectUnauthorized: true,
    honorCipherOrder: true,
    // Only makes the server emit an event; admit-peers.ts destroys the socket then.
    ...(options.handshakeTimeoutMs === undefined ? {} : { handshakeTimeout: options.handshakeTimeoutMs }),
  };
}

/**
 * For tls.connect(). The server's host name is not looked at, as in the original: its common name or URI SAN is.
 */
export function tlsClientOptions(
  material: PemTexts,
  policy: TlsPolicy,
  requirement: PeerRequirement,
): ConnectionOptions {
  return {
    ...contextOptions(material, policy),
    // Whatever is in the CA file is trusted, root or not, as in Go. A tls.Server has no such option in Node 26, so there
    // the file must hold the root; tlsProblems() says when it does not.
    allowPartialTrustChain: true,
    rejectUnauthorized: true,
    checkServerIdentity: (_host, peer) => {
      const verdict = verifyPeer(peer.raw, { requirement, role: "server" });
      return verdict.accepted ? undefined : Object.assign(new Error(verdict.says), { code: "TLS_PEER_REFUSED" });
    },
  };
}

function contextOptions(material: PemTexts, policy: TlsPolicy) {
  return {
    cert: material.cert,
    key: material.key,
    // Also the list of acceptable CAs in the certificate request, without which Go clients send no certificate.
    ...(material.ca === "" ? {} : { ca: material.ca }),
    minVersion: policy.minVersion,
    maxVersion: "TLSv1.3",
    ciphers: policy.ciphers,
    // A resumed session is not shown its client certificate again, and a ticket outlives a CA swap. Renegotiation
    // costs the server more than the client.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION,
  } as const satisfies TlsOptions;
}

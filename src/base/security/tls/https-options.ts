// HTTPS for the metrics, with the four ways of the original (they are Go's) to treat a scraper's certificate; and for what only one peer may ask.
import type { Server, TlsOptions } from "node:tls";
import { type PeerRequirement, verifyPeer } from "../peers/verify-peer.ts";
import type { TlsPolicy } from "./cipher-suites.ts";
import type { TlsMaterial } from "./tls-material.ts";
import { tlsServerOptions } from "./tls-options.ts";

export type ClientAuth =
  | "RequireAndVerifyClientCert"
  | "RequireAnyClientCert"
  | "VerifyClientCertIfGiven"
  | "NoClientCert";

export function httpsServerOptions(
  material: Pick<TlsMaterial, "cert" | "key" | "ca">,
  policy: TlsPolicy,
  clientAuth: ClientAuth,
): TlsOptions {
  return {
    ...tlsServerOptions(material, policy, { handshakeTimeoutMs: 10_000 }),
    requestCert: clientAuth !== "NoClientCert",
    // The two ways in between let a handshake through that admitHttpsPeers then judges.
    rejectUnauthorized: clientAuth === "RequireAndVerifyClientCert",
  };
}

/** To be called for each server made with httpsServerOptions, before it listens. */
export function admitHttpsPeers(server: Server, clientAuth: ClientAuth): void {
  // Before the HTTP part sees the connection.
  server.prependListener("secureConnection", (socket) => {
    const hasCertificate = socket.getPeerX509Certificate() !== undefined;
    if (clientAuth === "RequireAnyClientCert" && !hasCertificate) socket.destroy();
    if (clientAuth === "VerifyClientCertIfGiven" && hasCertificate && !socket.authorized) socket.destroy();
  });
  // Node closes the socket after a failed handshake, but only announces a late one.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
}

/** On top of admitHttpsPeers with RequireAndVerifyClientCert: only whoever is called so is answered, and nobody where no name is asked for. */
export function admitNamedPeers(
  server: Server,
  requirement: PeerRequirement,
  refuse: (refusal: { readonly address: string; readonly says: string }) => void,
): void {
  server.prependListener("secureConnection", (socket) => {
    const verdict = verifyPeer(socket.getPeerX509Certificate()?.raw, { requirement, role: "client" });
    const isNamed = (requirement.commonName ?? "") !== "" || (requirement.uriSan ?? "") !== "";
    if (verdict.accepted && isNamed) return;
    refuse({ address: socket.remoteAddress ?? "unknown", says: verdict.accepted ? "no name is set" : verdict.says });
    socket.on("error", () => undefined); // it is being destroyed; what went wrong has been said
    socket.destroy();
  });
}

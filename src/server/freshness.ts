// How a server tells another whether its datastore answers. Servers meet only in the TLS handshake of a probe, which shows
// no certificate and never becomes a client. So the probe asks for an application protocol (ALPN) of this name, and a
// server that is cut off refuses to speak it. Calico's own clients ask for none; the original's servers know none and let
// the question pass, so that they count as serving.
export const freshProtocol = "cattail-fresh";

/** For tls.Server's ALPNCallback: the protocol to agree on; undefined ends the handshake. */
export function agreeOn(offered: readonly string[], isFresh: boolean): string | undefined {
  if (offered.includes(freshProtocol)) return isFresh ? freshProtocol : undefined;
  return offered[0]; // whatever else somebody's proxy asks for means nothing here
}

// How a server tells another whether its datastore answers. Servers meet only in the TLS handshake of a probe, which shows
// no certificate and never becomes a client. So the probe asks for an application protocol (ALPN) of this name, and a
// server that is cut off insists on another one, at which TLS ends the handshake. A server that is well has nothing to say
// about protocols, as the original: the question passes. Calico's own clients ask for none and never notice.
export const freshProtocol = "cattail-fresh";

/** Part of tls.createServer's options. A list and not a callback: it cannot throw. */
export function alpnOf(isFresh: boolean): { ALPNProtocols?: string[] } {
  return isFresh ? {} : { ALPNProtocols: ["cattail-cut-off"] };
}

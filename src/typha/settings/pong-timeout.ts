// The one rule about pongs that several settings make together, for the settings and for servers that are started without.

type Pongs = { readonly serverPingIntervalMs: number; readonly serverPongTimeoutMs: number };

/** As the original corrects it: a timeout that a punctual client could miss is replaced. */
export function soundPongTimeoutMs({ serverPingIntervalMs, serverPongTimeoutMs }: Pongs): number {
  return serverPongTimeoutMs <= 2 * serverPingIntervalMs ? 6 * serverPingIntervalMs : serverPongTimeoutMs;
}

// The connections to the API server: kept, few, over TLS as the identity has it, through its proxy where it has one.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Identity } from "./load-identity.ts";
import { kubeLimits } from "./settings.ts";

export function makeAgent({ agent, server, proxy, tls }: Identity): HttpAgent {
  const tlsOptions = { ...tls, minVersion: "TLSv1.2" } as const;
  if (agent !== undefined) {
    Object.assign(agent.options, tlsOptions); // it was made from the kubeconfig alone, and settings come first
    return agent;
  }
  const common = {
    keepAlive: true,
    maxSockets: kubeLimits.sockets,
    maxFreeSockets: 8,
    scheduling: "lifo",
    // Whether there is a proxy has been decided, so Node gets no NO_PROXY to decide again.
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  } as const;
  return server.protocol === "http:" ? new HttpAgent(common) : new HttpsAgent({ ...common, ...tlsOptions });
}

export function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

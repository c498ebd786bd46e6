// The connections to the API server: kept, few, over TLS as the identity has it, through its proxy where it has one.
import type { ClientRequestArgs, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext } from "node:tls";
import { messageOf } from "../../lib/index.ts";
import type { Identity, TlsIdentity } from "../identity/load-identity.ts";
import { KubeError } from "../kube-error.ts";
import { kubeLimits } from "../settings.ts";

// Not imported, for what that costs (send-request.ts).
const { Agent: PlainAgent } = process.getBuiltinModule("node:http");

export function makeAgent({ server, proxy, tls }: Identity): HttpAgent {
  const isSocks = proxy !== undefined && /^socks/i.test(proxy);
  const common = {
    keepAlive: true,
    maxSockets: kubeLimits.sockets,
    maxFreeSockets: 8,
    scheduling: "lifo",
    // Whether there is a proxy has been decided, so Node gets no NO_PROXY to decide again.
    ...(proxy === undefined || isSocks ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  } as const;
  const agent =
    server.protocol === "http:"
      ? new PlainAgent(common)
      : new HttpsAgent({ ...common, ...checks(tls), secureContext: contextOf(tls) });
  if (isSocks) goThroughSocks(agent, new URL(proxy));
  return agent;
}

function checks({ rejectUnauthorized, servername }: TlsIdentity) {
  return { rejectUnauthorized, ...(servername === undefined ? {} : { servername }) };
}

/** One for all connections of an identity: each kind has one of its own, and to read CA, certificate and key costs 2 ms. */
function contextOf({ ca, cert, key }: TlsIdentity): SecureContext {
  try {
    return createSecureContext({ ca, cert, key, minVersion: "TLSv1.2" });
  } catch (cause) {
    // Files that are being replaced may be torn for a moment.
    const problem = `the CA, client certificate or key for the API server cannot be used: ${messageOf(cause)}`;
    throw new KubeError("unavailable", problem, { cause });
  }
}

type Done = (error: Error | null, stream: Duplex) => void;

/** An agent of https makes TLS over whatever socket it is given. */
function goThroughSocks(agent: HttpAgent, proxy: URL): void {
  const secure = agent instanceof HttpsAgent ? agent.createConnection.bind(agent) : undefined;
  agent.createConnection = (options: ClientRequestArgs, done?: Done): undefined => {
    const target = { host: `${options.host}`, port: Number(options.port) };
    const connected = import("./socks.ts").then(({ connectThroughSocks }) => connectThroughSocks(proxy, target));
    connected.then(
      (socket) => {
        const over: ClientRequestArgs & { socket: Duplex } = { ...options, socket };
        done?.(null, secure?.(over) ?? socket);
      },
      (error: Error) => (done as (error: Error) => void)(error), // a failure has no stream
    );
  };
}

export function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

// Opens one connection: TCP, then TLS where there are files for it, within one deadline. Whatever ends it early leaves
// neither socket nor timer behind.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  CattailError,
  type Clock,
  type ConnectionFault,
  connectionFault,
  connectionWords,
} from "../../../base/lib/index.ts";
import {
  loadTlsMaterial,
  type PeerRequirement,
  type TlsFiles,
  tlsClientOptions,
  tlsPolicy,
} from "../../../base/security/index.ts";
import { addressText, type ServerAddress } from "../discovery/server-address.ts";
import { Arrivals } from "./arrivals.ts";

/** Files, not their contents: they are read again for every connection, so renewed certificates are simply used. */
export type ClientTls = TlsFiles & { readonly server: PeerRequirement };

export type DialOptions = {
  readonly tls: ClientTls | undefined;
  readonly dialTimeoutMs: number;
  readonly clock: Clock;
};

export type Dialled = {
  readonly socket: Socket;
  readonly arrivals: Arrivals;
  /** The first error of the socket so far. A TLS socket hears of the other side's refusals without being destroyed by them. */
  failure(): Error | undefined;
};

export async function dial(to: ServerAddress, options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  signal.throwIfAborted();
  const { tls } = options;
  const material = tls === undefined ? undefined : await loadTlsMaterial(tls);
  const arrivals = new Arrivals();
  const target = { host: to.host, port: to.port, onread: arrivals.onread };
  const isPlain = tls === undefined || material === undefined;
  const socket = isPlain
    ? connectTcp(target)
    : connectTls({ ...target, ...tlsClientOptions(material, tlsPolicy({}), tls.server) });
  // For the whole life of the socket: between dialling and reading there is nobody else to hear of an error, and one
  // that nobody hears would end the process. The reader learns of it as the end.
  let failure: Error | undefined;
  socket.on("error", (error) => {
    failure ??= error;
  });
  try {
    await opened(socket, isPlain ? "connect" : "secureConnect", { ...options, to, signal });
    socket.setNoDelay(true);
    return { socket, arrivals, failure: () => failure };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function opened(
  socket: Socket,
  event: "connect" | "secureConnect",
  { to, signal, clock, dialTimeoutMs }: DialOptions & { to: ServerAddress; signal: AbortSignal },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isReached = false;
  socket.once("connect", () => {
    isReached = true;
  });
  const fail = (problem: string, fault: ConnectionFault, cause?: unknown) => {
    const seen = { problem, fault: isReached ? fault : "other", isPlain: event === "connect", cause } as const;
    reject(dialError(addressText(to), { ...seen, isReached }));
  };
  const settled = new AbortController();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort(); // while the files were read
  clock.sleep(dialTimeoutMs, settled.signal).then(
    () => fail(`not open within ${dialTimeoutMs} ms`, "other"),
    () => undefined, // settled first
  );
  socket.once(event, resolve);
  socket.once("error", (error) => fail(connectionWords(error), connectionFault(error), error));
  socket.once("close", () => fail("the server closed the connection", "cut"));
  try {
    await promise;
  } finally {
    settled.abort();
    signal.removeEventListener("abort", onAbort);
  }
}

type Seen = { problem: string; fault: ConnectionFault; isReached: boolean; isPlain: boolean; cause?: unknown };

function dialError(server: string, { problem, fault, isReached, isPlain, cause }: Seen): CattailError {
  const doctor = `cattail doctor --server ${server}`;
  const steps = isPlain
    ? `"${doctor} --plaintext" checks it step by step`
    : `"${doctor}" with the same certificates explains the handshake step by step`;
  const says = (next: string) => ({
    problem: `no connection to ${server}: ${problem}`,
    next: `${next}; ${steps}`,
    ...(cause === undefined ? {} : { cause }),
  });
  if (fault === "certificate")
    return new CattailError(
      "CLIENT_SERVER_CERTIFICATE",
      says("Check the CA file, the name and the server's certificate"),
    );
  if (fault === "refused") return certificateRefused(says("Check which CA and which names the server accepts"));
  // A server without TLS takes what we say for nonsense and hangs up, most often without an answer.
  if (fault === "protocol" || fault === "cut")
    return tlsMismatch(says("Check that the server has TLS at this port, and the certificates of both sides"));
  return new CattailError(
    "CLIENT_DIAL",
    says(
      isReached
        ? "The server listens there, so check the certificates of both sides"
        : "Check that the server listens there",
    ),
  );
}

type Says = ConstructorParameters<typeof CattailError>[1];

export function certificateRefused(says: Says): CattailError {
  return new CattailError("CLIENT_CERTIFICATE_REFUSED", says);
}

export function tlsMismatch(says: Says): CattailError {
  return new CattailError("CLIENT_TLS_MISMATCH", says);
}

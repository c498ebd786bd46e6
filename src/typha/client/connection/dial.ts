// Opens one connection: TCP, then TLS where there are files for it, within one deadline. Whatever ends it early leaves
// neither socket nor timer behind.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { CattailError, type Clock, connectionWords } from "../../../base/lib/index.ts";
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

export type Dialled = { readonly socket: Socket; readonly arrivals: Arrivals };

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
  socket.on("error", () => undefined);
  try {
    await opened(socket, isPlain ? "connect" : "secureConnect", { ...options, to, signal });
    socket.setNoDelay(true);
    return { socket, arrivals };
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
  const fail = (problem: string, cause?: unknown) =>
    reject(dialError(addressText(to), { problem, isReached, isPlain: event === "connect", cause }));
  const settled = new AbortController();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort(); // while the files were read
  clock.sleep(dialTimeoutMs, settled.signal).then(
    () => fail(`not open within ${dialTimeoutMs} ms`),
    () => undefined, // settled first
  );
  socket.once(event, resolve);
  socket.once("error", (error) => fail(connectionWords(error), error));
  socket.once("close", () => fail("the server closed the connection"));
  try {
    await promise;
  } finally {
    settled.abort();
    signal.removeEventListener("abort", onAbort);
  }
}

function dialError(
  server: string,
  { problem, isReached, isPlain, cause }: { problem: string; isReached: boolean; isPlain: boolean; cause: unknown },
): CattailError {
  const look = isReached
    ? "The server listens there, so check the certificates of both sides"
    : "Check that the server listens there";
  const doctor = `cattail doctor --server ${server}`;
  return new CattailError("CLIENT_DIAL", {
    problem: `no connection to ${server}: ${problem}`,
    next: isPlain
      ? `${look}; "${doctor} --plaintext" checks it step by step`
      : `${look}; "${doctor}" with the same certificates explains the handshake step by step`,
    ...(cause === undefined ? {} : { cause }),
  });
}

// Accepts connections for one thread's hub, with or without TLS. The TCP side is ours even with TLS: connections are
// counted and their deadline starts at accept, and a connection gets TLS state (tens of kilobytes) only once it has sent
// a byte, so that thousands which say nothing cost next to nothing.
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import type { Log } from "../../../base/lib/index.ts";
import {
  admitPeers,
  identityOf,
  type PeerRequirement,
  type Refusal,
  type TlsPolicy,
  tlsServerOptions,
} from "../../../base/security/index.ts";
import { type Hub, type Session, sessionEnds } from "../../fanout/index.ts";
import { neighbourName } from "../peers/neighbour-protocol.ts";
import { cannotListen, type ListenAddress } from "./claim-port.ts";
import { alpnOf } from "./freshness.ts";
import { TrustWatch } from "./trust-watch.ts";

export type TlsSetup = {
  readonly material: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly policy: TlsPolicy;
  readonly requirement: PeerRequirement;
  /** Ends connections whose certificate has expired or whose CA is gone. */
  readonly endsUntrusted?: boolean;
};

export type ListenerOptions = ListenAddress & {
  readonly hub: Hub;
  /** Several threads listen on the same port, and the kernel spreads connections over them. */
  readonly isShared: boolean;
  readonly tls: TlsSetup | undefined;
  /** What other servers are told until setFreshness() says otherwise. */
  readonly isFresh: boolean;
  readonly log: Log;
  /** Certificates are dated in the world's time. */
  readonly wallMs: () => number;
  refuse(refusal: Refusal): void;
  /** What another server is told that asks which nodes this one has (peers/neighbour-protocol.ts). */
  answerNeighbour(): Promise<string>;
};

const keepAliveDelayMs = 15_000;
const trustCheckMs = 5000;

export class Listener {
  readonly #options: ListenerOptions;
  readonly #tcp: TcpServer;
  #tls: TlsServer | undefined;
  /** With the material of the last reload. */
  #setup: TlsSetup | undefined;
  /** Sessions whose TLS handshake is not done, by peer address and port. */
  readonly #securing = new Map<string, Session>();
  readonly #trust: TrustWatch | undefined;
  readonly #trustTimer: NodeJS.Timeout | undefined;
  #isFresh: boolean;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#isFresh = options.isFresh;
    this.#setup = options.tls;
    this.#tls = options.tls === undefined ? undefined : this.#createTls(options.tls);
    this.#trust = options.tls?.endsUntrusted === true ? new TrustWatch() : undefined;
    if (this.#trust !== undefined) this.#trustTimer = setInterval(() => this.#checkTrust(), trustCheckMs).unref();
    const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
    this.#tcp = createTcpServer({ ...socketOptions, pauseOnConnect: this.#tls !== undefined }, (socket) =>
      this.#accept(socket),
    );
  }

  async listen(): Promise<number> {
    const { host, port, isShared, log } = this.#options;
    const listening = Promise.withResolvers<void>();
    this.#tcp.once("error", listening.reject);
    this.#tcp.listen({ port, ...(host === "" ? {} : { host }), backlog: 4096, reusePort: isShared }, () =>
      listening.resolve(),
    );
    try {
      await listening.promise;
    } catch (error) {
      throw cannotListen({ host, port }, error);
    }
    this.#tcp.off("error", listening.reject);
    // Running out of descriptors, mostly: it passes when clients go, and must not take the served ones with it.
    this.#tcp.on("error", (error) => log.error("cannot accept connections", { problem: error.message }));
    const address = this.#tcp.address();
    if (address === null || typeof address === "string") throw new Error(`listening on ${address}, not on a port`);
    return address.port;
  }

  /** New handshakes use this material; connections that exist stay. */
  setMaterial(material: TlsSetup["material"]): void {
    if (this.#setup === undefined) return;
    this.#setup = { ...this.#setup, material };
    this.#tls?.setSecureContext(tlsServerOptions(material, this.#setup.policy));
    this.#checkTrust();
  }

  /** What other servers are told that look for one to hand their clients to. */
  setFreshness(isFresh: boolean): void {
    if (isFresh === this.#isFresh) return;
    this.#isFresh = isFresh;
    // Handshakes that have begun go on with the one they began with.
    if (this.#setup !== undefined) this.#tls = this.#createTls(this.#setup);
  }

  /** No more connections; those that exist stay. */
  close(): void {
    this.#tcp.close();
    clearInterval(this.#trustTimer);
  }

  #checkTrust(): void {
    this.#trust?.check(this.#setup?.material.ca ?? "", this.#options.wallMs());
  }

  #createTls(tls: TlsSetup): TlsServer {
    const server = createTlsServer({ ...tlsServerOptions(tls.material, tls.policy), ...alpnOf(this.#isFresh) });
    admitPeers(server, {
      requirement: (socket) => this.#neighbourIdentity(socket) ?? tls.requirement,
      admit: (socket) => {
        if (this.#neighbourIdentity(socket) !== undefined) return void this.#answer(socket);
        const key = peerKey(socket);
        const session = this.#securing.get(key);
        this.#securing.delete(key);
        if (session === undefined) socket.destroy();
        else {
          session.attach(socket);
          this.#trust?.add(socket, () => session.end(sessionEnds.untrusted));
        }
      },
      refuse: (refusal) => this.#options.refuse(refusal),
    });
    return server;
  }

  /** Whoever asks as a neighbour must bear our own name; without one there are no neighbours. */
  #neighbourIdentity({ servername }: TLSSocket): PeerRequirement | undefined {
    if (servername !== neighbourName || this.#setup === undefined) return undefined;
    return identityOf(this.#setup.material.cert);
  }

  // It never becomes a client: its session ends with the connection.
  async #answer(socket: TLSSocket): Promise<void> {
    socket.on("error", () => undefined); // whoever asked has gone; nobody waits for the answer
    socket.end(await this.#options.answerNeighbour());
  }

  #accept(socket: Socket): void {
    const { hub } = this.#options;
    const key = peerKey(socket);
    const session = hub.accept({ address: key, destroy: () => socket.destroy() });
    socket.on("error", (error) => session.end(sessionEnds.socket(error)));
    if (this.#tls === undefined) {
      session.attach(socket);
      return;
    }
    this.#securing.set(key, session);
    socket.on("close", () => {
      // The port may have come back with another connection meanwhile.
      if (this.#securing.get(key) === session) this.#securing.delete(key);
      session.end(sessionEnds.tlsFailed);
    });
    // Reading starts with this listener; what came is taken over by the TLS socket.
    socket.once("readable", () => {
      if (!socket.destroyed) this.#tls?.emit("connection", socket);
    });
  }
}

function peerKey(socket: Socket): string {
  const address = socket.remoteAddress ?? "unknown";
  return address.includes(":") ? `[${address}]:${socket.remotePort}` : `${address}:${socket.remotePort}`;
}

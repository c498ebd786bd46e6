// The way to etcd: one gRPC connection per endpoint, one endpoint in use at a time. A call that gets no answer moves
// everybody on to the next endpoint; a refused token is fetched again; TLS files are read again when they may be new.

import { askOnce, type GrpcCall, GrpcConnection, type GrpcMetadata } from "../../../base/grpc/index.ts";
import { CattailError, type Clock, type LastGood, type Log, settleWithin } from "../../../base/lib/index.ts";
import { DatastoreError } from "../errors.ts";
import { type EtcdTlsFiles, type LoadedCredentials, watchedCredentials } from "./credentials.ts";
import { type Method, methods } from "./messages.ts";
import { isAuthSwitchedOff, isTokenRefused, toDatastoreError } from "./status.ts";

export type EtcdAuth = { readonly username: string; readonly password: string };

export type ConnectionOptions = {
  readonly endpoints: readonly string[];
  readonly tls: EtcdTlsFiles;
  readonly auth: EtcdAuth | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  readonly keepaliveIntervalMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly maxMessageBytes: number;
};

export type CallOptions = {
  /** What is being done, for error messages. */
  readonly doing: string;
  readonly signal?: AbortSignal | undefined;
  /** Asking twice does no harm, so that every endpoint may be tried. A write is sent once: its fate may be unknown. */
  readonly isRead: boolean;
};

export type OpenStream = {
  readonly stream: GrpcCall;
  readonly endpoint: Endpoint;
  /** To be said when the other side is silent for too long: whoever comes next dials anew. */
  readonly noAnswer: () => void;
};

type Address = { readonly url: string; readonly address: string; readonly isTls: boolean };
type Endpoint = Address & { connection: GrpcConnection | undefined };

const tlsCheckIntervalMs = 10_000;

export class EtcdConnection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  readonly #endpoints: Endpoint[];
  #current = 0;
  readonly #watched: LastGood<LoadedCredentials>;
  /** Those that connections are made with. */
  #credentials: LoadedCredentials | undefined;
  #token: Promise<string | undefined> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#watched = watchedCredentials(options.tls, { ...options, maxAgeMs: tlsCheckIntervalMs });
    this.#endpoints = options.endpoints.map((text) => ({ ...parseEndpoint(text), connection: undefined }));
  }

  /** Reads the TLS files a first time, so that a bad path stops the start. */
  async open(): Promise<void> {
    if (!this.#endpoints.some(({ isTls }) => isTls)) return;
    this.#credentials = await this.#watched.current();
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    let last: DatastoreError | undefined;
    for (let attempt = 0; attempt < (options.isRead ? this.#endpoints.length : 1); attempt++) {
      const endpoint = this.#endpointInUse();
      try {
        return await this.#withToken(endpoint, options, (metadata) =>
          this.#unary(endpoint, { method, request, metadata, signal: options.signal }),
        );
      } catch (error) {
        options.signal?.throwIfAborted();
        last = toDatastoreError(error, options.doing);
        await this.failed(endpoint, last);
        if (last.code !== "unavailable") throw last;
      }
    }
    throw last ?? new DatastoreError("unavailable", `${options.doing}: etcd has no endpoints`);
  }

  /** A stream on the endpoint in use. Its reader says `failed` when it breaks, and `tokenRefused` when it was told so. */
  async openStream(path: string, options: CallOptions): Promise<OpenStream> {
    const endpoint = this.#endpointInUse();
    try {
      const metadata = await this.#withToken(endpoint, options, async (made) => made);
      const connection = await this.#connectionTo(endpoint);
      return { stream: connection.open(path, metadata), endpoint, noAnswer: () => connection.giveUp() };
    } catch (error) {
      options.signal?.throwIfAborted();
      const known = toDatastoreError(error, options.doing);
      await this.failed(endpoint, known);
      throw known;
    }
  }

  /** Where nobody answered, moves on to the next endpoint, unless somebody else already has. */
  async failed(endpoint: Endpoint, { code }: DatastoreError): Promise<void> {
    const isInUse = this.#endpoints[this.#current] === endpoint;
    if (code === "unavailable" && isInUse && this.#endpoints.length > 1) {
      this.#current = (this.#current + 1) % this.#endpoints.length;
      this.#options.log.info("moving on to another etcd endpoint", {
        from: endpoint.address,
        to: this.#endpointInUse().address,
      });
    }
    // A refused client certificate may look like any broken connection, so this is also when to look for a new one.
    if ((code === "unavailable" || code === "unauthorized") && this.#credentials !== undefined) {
      this.#watched.refuse(this.#credentials);
      await this.#refreshCredentials();
    }
  }

  tokenRefused(): void {
    this.#token = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const endpoint of this.#endpoints) {
      endpoint.connection?.giveUp();
      endpoint.connection = undefined;
    }
  }

  #endpointInUse(): Endpoint {
    const endpoint = this.#endpoints[this.#current];
    if (endpoint === undefined) throw new DatastoreError("unavailable", "etcd has no endpoints");
    return endpoint;
  }

  async #withToken<T>(
    endpoint: Endpoint,
    options: CallOptions,
    work: (metadata: GrpcMetadata) => Promise<T>,
  ): Promise<T> {
    const token = await this.#tokenFrom(endpoint, options);
    try {
      return await work(makeMetadata(token));
    } catch (error) {
      // Refused before anything was done, so a second try is safe for writes too.
      if (token === undefined || !isTokenRefused(error)) throw error;
      this.#token = undefined;
      return await work(makeMetadata(await this.#tokenFrom(endpoint, options)));
    }
  }

  async #tokenFrom(endpoint: Endpoint, { signal }: CallOptions): Promise<string | undefined> {
    const { auth, log } = this.#options;
    if (auth === undefined) return undefined;
    this.#token ??= this.#unary(endpoint, {
      method: methods.authenticate,
      request: { name: auth.username, password: auth.password },
      metadata: makeMetadata(undefined),
      signal,
    }).then(
      ({ token }) => token,
      (error: unknown) => {
        if (isAuthSwitchedOff(error)) {
          log.warn("etcd has authentication switched off; going on without a user");
          return undefined;
        }
        this.#token = undefined;
        throw error;
      },
    );
    return this.#token;
  }

  async #unary<Request, Response>(
    endpoint: Endpoint,
    what: {
      method: Method<Request, Response>;
      request: Request;
      metadata: GrpcMetadata;
      signal: AbortSignal | undefined;
    },
  ): Promise<Response> {
    what.signal?.throwIfAborted();
    const connection = await this.#connectionTo(endpoint);
    const { method, request, metadata, signal } = what;
    const call = connection.open(method.path, metadata);
    const answer = askOnce(call, method.encode(request));
    const { clock, requestTimeoutMs } = this.#options;
    answer.catch(() => undefined); // also rejects after the race below was lost
    try {
      const settled = await settleWithin(answer, { clock, limitMs: requestTimeoutMs, signal });
      if (settled.is === "settled") return method.decode(settled.value);
      connection.giveUp();
      throw new DatastoreError("unavailable", `${endpoint.address} did not answer within ${requestTimeoutMs} ms`);
    } finally {
      call.cancel();
    }
  }

  async #connectionTo(endpoint: Endpoint): Promise<GrpcConnection> {
    const { maxMessageBytes, keepaliveIntervalMs, keepaliveTimeoutMs } = this.#options;
    await this.#refreshCredentials();
    if (endpoint.connection?.isOpen) return endpoint.connection;
    if (endpoint.isTls && this.#credentials === undefined) {
      throw new DatastoreError("unavailable", "the etcd connection was never opened");
    }
    endpoint.connection = new GrpcConnection(endpoint.url, {
      serverName: "etcd",
      secureContext: endpoint.isTls ? this.#credentials?.secureContext : undefined,
      keepaliveIntervalMs,
      keepaliveTimeoutMs,
      maxMessageBytes,
    });
    return endpoint.connection;
  }

  async #refreshCredentials(): Promise<void> {
    if (this.#credentials === undefined) return;
    const loaded = await this.#watched.current();
    if (loaded === this.#credentials) return;
    this.#credentials = loaded;
    for (const endpoint of this.#endpoints) {
      // Closing lets the streams that are open run on; only new ones use the new certificate.
      endpoint.connection?.close();
      endpoint.connection = undefined;
    }
  }
}

// Without a leader a member would answer from what it last knew; better it says so, and we ask another.
function makeMetadata(token: string | undefined): GrpcMetadata {
  return { hasleader: "true", ...(token === undefined ? {} : { token }) };
}

function parseEndpoint(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.hostname === "") {
    throw new CattailError("ETCD_ENDPOINT", {
      problem: `etcd endpoint "${text}" is not of the form http://host:port or https://host:port`,
      next: "Correct it in the list of etcd endpoints",
    });
  }
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  const address = `${url.hostname}:${port}`;
  return { url: `${url.protocol}//${address}`, address, isTls: url.protocol === "https:" };
}

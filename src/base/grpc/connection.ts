// gRPC over one HTTP/2 connection: calls, streams, pings. Node's own HTTP/2 does the rest. One that is over stays over:
// whoever needs another dials another.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  connect as http2Connect,
  type IncomingHttpHeaders,
} from "node:http2";
import type { SecureContext } from "node:tls";
import { FrameReader, frame } from "./frames.ts";
import { explainNoConnection } from "./no-connection.ts";
import { errorOfEnd, GrpcError, grpcStatus } from "./status.ts";

export type GrpcOptions = {
  /** What the other side is called when a message says how it should be: "etcd". */
  readonly serverName: string;
  /** For https. */
  readonly secureContext: SecureContext | undefined;
  readonly keepaliveIntervalMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly maxMessageBytes: number;
};

export type GrpcMetadata = { readonly [name: string]: string };

export type GrpcListener = {
  readonly message: (bytes: Buffer) => void;
  /** Once, after the last message. Without an error it ended as it should. */
  readonly end: (error: unknown) => void;
};

// So much may be on its way before we have taken it: large lists come without a pause, and busy watches need few
// acknowledgements.
const streamWindowBytes = 1 << 20;
const connectionWindowBytes = 4 << 20;

export class GrpcConnection {
  readonly #url: string;
  readonly #session: ClientHttp2Session;
  readonly #options: GrpcOptions;
  readonly #keepalive: NodeJS.Timeout;
  #callCount = 0;
  #isEstablished = false;

  /** http://host:port or https://host:port. Dials at once; calls wait for it. */
  constructor(url: string, options: GrpcOptions) {
    const { secureContext, keepaliveIntervalMs } = options;
    this.#url = url;
    this.#options = options;
    const session = http2Connect(url, {
      ...(secureContext === undefined ? {} : { secureContext }),
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: Number.MAX_SAFE_INTEGER, // what we hold is bounded by the windows; at its own bound Node resets streams
    });
    this.#session = session;
    session.on("error", () => undefined); // every call is told by its own stream
    session.once("connect", () => {
      if (!session.destroyed) session.setLocalWindowSize(connectionWindowBytes);
    });
    session.once("remoteSettings", () => {
      this.#isEstablished = true;
    });
    this.#keepalive = setInterval(() => this.#ping(), keepaliveIntervalMs).unref();
    session.once("close", () => clearInterval(this.#keepalive));
    session.unref(); // only calls keep a program waiting
  }

  /** Whether new calls can be made; the other side may be going, or gone. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  open(path: string, metadata: GrpcMetadata): GrpcCall {
    const stream = this.#session.request(
      { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...metadata },
      { endStream: false },
    );
    this.#callCount += 1;
    if (this.#callCount === 1) this.#session.ref();
    stream.once("close", () => {
      this.#callCount -= 1;
      if (this.#callCount === 0) this.#session.unref();
    });
    return new GrpcCall(stream, {
      maxMessageBytes: this.#options.maxMessageBytes,
      explain: (error) =>
        this.#isEstablished
          ? error
          : explainNoConnection(error, { url: this.#url, serverName: this.#options.serverName }),
    });
  }

  /** No new calls; those that run go on, and then it ends. */
  close(): void {
    this.#session.close();
  }

  /**
   * The other side does not answer. One that was accepted and never spoken to (a load balancer without a member behind
   * it) would wait for ever, with everybody who waits for it; on one that works, other calls may run on.
   */
  giveUp(): void {
    if (this.#isEstablished) this.#session.close();
    else this.#session.destroy(new Error("the connection was given up: the other side never spoke"));
  }

  // Only beside calls: many servers take pings without them for an attack.
  #ping(): void {
    const session = this.#session;
    if (this.#callCount === 0 || !this.#isEstablished || session.destroyed) return;
    const { keepaliveTimeoutMs } = this.#options;
    const late = setTimeout(() => {
      session.destroy(new Error(`the other side did not answer a ping within ${keepaliveTimeoutMs} ms`));
    }, keepaliveTimeoutMs).unref();
    session.ping(() => clearTimeout(late));
  }
}

/** One call: messages out, messages in, and its end. */
export class GrpcCall {
  readonly #stream: ClientHttp2Stream;
  readonly #frames: FrameReader;
  readonly #explain: (error: unknown) => unknown;
  #listener: GrpcListener | undefined;
  #headers: IncomingHttpHeaders | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #streamError: unknown;
  /** Why we ended it ourselves, whatever the other side said by then. */
  #failure: unknown;
  #end: { readonly error: unknown } | undefined;

  constructor(
    stream: ClientHttp2Stream,
    { maxMessageBytes, explain }: { maxMessageBytes: number; explain: (error: unknown) => unknown },
  ) {
    this.#stream = stream;
    this.#frames = new FrameReader(maxMessageBytes);
    this.#explain = explain;
    stream.once("response", (headers) => {
      this.#headers = headers;
    });
    stream.once("trailers", (trailers) => {
      this.#trailers = trailers;
    });
    // The other side has said its last word; what we might still say is of no interest.
    stream.once("end", () => stream.close(constants.NGHTTP2_NO_ERROR));
    stream.on("error", (error) => {
      this.#streamError ??= causeOf(error);
    });
    stream.once("close", () => {
      this.#end = { error: this.#failure ?? this.#othersEnd() };
      this.#listener?.end(this.#end.error);
    });
  }

  /** Nothing is lost before; from now on messages flow. */
  listen(listener: GrpcListener): void {
    this.#listener = listener;
    if (this.#end !== undefined) {
      listener.end(this.#end.error);
      return;
    }
    this.#stream.on("data", (chunk: Buffer) => {
      try {
        this.#frames.read(chunk, listener.message);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  write(message: Uint8Array): void {
    if (!this.#stream.writableEnded && !this.#stream.destroyed) this.#stream.write(frame(message));
  }

  /** The last message. */
  finish(message: Uint8Array): void {
    this.#stream.end(frame(message));
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#fail(new GrpcError(grpcStatus.cancelled, "cancelled by us"));
  }

  #othersEnd(): unknown {
    const [headers, trailers, error] = [this.#headers, this.#trailers, this.#streamError];
    const end = errorOfEnd({ headers, trailers, error, resetCode: this.#stream.rstCode });
    return end === undefined ? undefined : this.#explain(end);
  }

  #fail(error: unknown): void {
    if (this.#stream.destroyed) return;
    this.#failure ??= error;
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.destroy();
  }
}

/** The one answer to one question. */
export function askOnce(call: GrpcCall, request: Uint8Array): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let answer: Buffer | undefined;
  call.listen({
    message: (bytes) => {
      answer = bytes;
    },
    end: (error) => {
      if (error !== undefined) reject(error);
      else if (answer === undefined) reject(new GrpcError(grpcStatus.internal, "the answer is empty"));
      else resolve(answer);
    },
  });
  call.finish(request);
  return promise;
}

// What waits for a connection is told that it was cancelled, and only within that, why the connection failed.
function causeOf(error: Error): unknown {
  return error.cause ?? error;
}

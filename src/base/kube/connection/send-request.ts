// One request on one connection, and the body of its answer: whole, bounded in bytes, given up when it stops coming.
import type { Agent, IncomingMessage } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { type Clock, parseJson, untilSilent, writeJson } from "../../lib/index.ts";
import type { Identity } from "../identity/load-identity.ts";
import { connectionError, KubeError } from "../kube-error.ts";
import { kubeLimits } from "../settings.ts";

// Not imported: as an ES module node:http loads a second HTTP client for its WebSocket, 45 ms and 15 MB at every start.
const { request: requestHttp } = process.getBuiltinModule("node:http");

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query, escaped. */
  readonly path: string;
  readonly body?: unknown;
  /** Of the body; JSON unless it says so. A PATCH says which kind of patch it is. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** For further pages of a list: one at a time, and each as slow as the one before, they need no other brake. */
  readonly isUnlimited?: boolean;
};

/** The server closed a kept connection just as it was used again. */
export class StaleConnection extends Error {}

export type SendOptions = {
  readonly identity: Identity;
  readonly agent: Agent;
  /** The request in words, for errors. */
  readonly what: string;
  readonly clock: Clock;
};

/**
 * What no object can be called, in the words of Go's client. A URL loses "." and ".." on its way: the request would be about another object, or about all of
 * them, and a deletion would take the whole kind.
 */
function wrongName(path: string): string | undefined {
  const [segments = ""] = path.split("?");
  for (const segment of segments.split("/").slice(1)) {
    if (segment === "") return "resource name may not be empty";
    const name = decodeURIComponent(segment);
    const why =
      name === "." || name === ".."
        ? [`may not be '${name}'`]
        : ["/", "%"].filter((one) => name.includes(one)).map((one) => `may not contain '${one}'`);
    if (why.length > 0) return `invalid resource name ${JSON.stringify(name)}: [${why.join(" ")}]`;
  }
  return undefined;
}

/** Up to the headers of the answer. */
export async function sendRequest(
  request: ApiRequest,
  { identity, agent, what, clock }: SendOptions,
): Promise<IncomingMessage> {
  const says = wrongName(request.path);
  if (says !== undefined) throw new KubeError("invalid", `${what}: ${says}`, { says });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const body = request.body === undefined ? undefined : writeJson(request.body);
  const type = request.contentType ?? "application/json";
  const options: RequestOptions = {
    agent,
    method: request.method,
    signal: request.signal,
    headers: {
      ...identity.headers,
      accept: "application/json",
      "user-agent": "cattail",
      ...(body === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) }),
    },
  };
  const base = identity.server.pathname.replace(/\/$/, "");
  const url = new URL(`${base}${request.path}`, identity.server);
  const sending = (identity.server.protocol === "http:" ? requestHttp : requestHttps)(url, options);
  const settled = new AbortController();
  clock.sleep(kubeLimits.answerMs, settled.signal).then(
    () => sending.destroy(new KubeError("unavailable", `${what}: no answer for ${kubeLimits.answerMs / 1000} s`)),
    () => undefined, // it came in time
  );
  sending.once("socket", (socket) => socket.setKeepAlive(true, 30_000));
  sending.once("response", (response) => {
    settled.abort();
    // Errors of the stream belong to whoever reads it; without a listener one between two readers would be a crash.
    response.on("error", () => undefined);
    resolve(response);
  });
  sending.on("error", (error: NodeJS.ErrnoException) => {
    settled.abort();
    const isStale = sending.reusedSocket && error.code === "ECONNRESET" && request.method === "GET";
    reject(
      isStale
        ? new StaleConnection("stale", { cause: error })
        : request.signal?.aborted
          ? request.signal.reason
          : connectionError(error, `${what} from ${url.host}`),
    );
  });
  sending.end(body);
  return promise;
}

export type ReadOptions = {
  readonly maxBytes: number;
  /** The request in words, for errors. */
  readonly what: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
};

export async function readText(response: IncomingMessage, options: ReadOptions): Promise<string> {
  const { maxBytes, what, clock, signal = new AbortController().signal } = options;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const open = (hungUp: AbortSignal): AsyncIterable<Buffer> => {
    hungUp.addEventListener("abort", () => response.destroy(), { once: true });
    return response;
  };
  const error = (says: string) => new KubeError("unavailable", says);
  try {
    for await (const chunk of untilSilent(open, { clock, signal, silenceMs: kubeLimits.pageSilenceMs, what, error })) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new KubeError("invalid", `${what}: the answer has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw connectionError(error, what);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

export function parseAnswer(text: string, what: string): unknown {
  try {
    return parseText(text);
  } catch (error) {
    throw new KubeError("invalid", `${what}: the answer is not JSON`, { cause: error });
  }
}

/**
 * Throws SyntaxError for what is no JSON. To keep numbers exact the parser walks what it has read, and nesting of
 * thousands of levels ends its stack. One such object must not keep all others of its kind from being read: then the
 * text is read with numbers rounded, and whoever converts the object refuses it.
 */
export function parseText(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

export function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a proxy's HTML, or nothing
  }
}

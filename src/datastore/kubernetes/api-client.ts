// Requests to the API server over keep-alive connections that all lists and watches share: every answer is either a
// success or a DatastoreError. Redirects are never followed, whoever sends them: they would take the token along.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, type RequestOptions, request as requestHttps } from "node:https";
import type { Clock, Log } from "../../lib/index.ts";
import { parseJson } from "../../model/index.ts";
import { DatastoreError } from "../errors.ts";
import { writeJson } from "../write-json.ts";
import { Credentials, type CurrentIdentity } from "./credentials.ts";
import type { Identity } from "./load-identity.ts";
import type { RateLimit } from "./rate-limit.ts";
import { apiLimits } from "./settings.ts";
import { connectionError, statusError } from "./status-error.ts";

export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With the query, escaped. */
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** For further pages of a list: one at a time, and each as slow as the one before, they need no other brake. */
  readonly isUnlimited?: boolean;
};

export type ApiClientOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly rateLimit: RateLimit;
  readonly load: () => Promise<Identity>;
};

export class ApiClient implements Disposable {
  readonly #options: ApiClientOptions;
  readonly #credentials: Credentials;
  #agent: { readonly key: string; readonly agent: HttpAgent } | undefined;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#credentials = new Credentials(options);
  }

  /** The parsed answer. */
  async json(request: ApiRequest): Promise<unknown> {
    const response = await this.open(request);
    const text = await readText(response, { maxBytes: apiLimits.answerBytes, what: whatOf(request), request });
    return parseAnswer(text, whatOf(request));
  }

  /** The answer as it starts to come in; the reader must read it to its end or destroy it. */
  async open(request: ApiRequest): Promise<IncomingMessage> {
    if (!request.isUnlimited) await this.#options.rateLimit.take(request.signal);
    for (let attempt = 0; ; attempt++) {
      const identity = await this.#credentials.current().catch((error: unknown) => {
        throw new DatastoreError("unauthorized", `${error}`, { cause: error });
      });
      const response = await this.#send(request, identity);
      if (response.statusCode === 401 && attempt === 0) {
        this.#credentials.refuse(identity);
        response.destroy();
        continue;
      }
      await this.#check(response, request);
      return response;
    }
  }

  [Symbol.dispose](): void {
    this.#agent?.agent.destroy();
  }

  async #send(request: ApiRequest, identity: CurrentIdentity): Promise<IncomingMessage> {
    try {
      return await sendOnce(request, identity, this.#agentFor(identity));
    } catch (error) {
      request.signal?.throwIfAborted();
      // The server may close a kept connection just as we use it again. That says nothing; a second one does.
      if (error instanceof StaleConnection) return await sendOnce(request, identity, this.#agentFor(identity));
      throw error;
    }
  }

  // New certificates make a new agent; what is under way on the old one's connections goes on, idle ones close.
  #agentFor(identity: CurrentIdentity): HttpAgent {
    if (this.#agent?.key === identity.connectionKey) return this.#agent.agent;
    if (this.#agent !== undefined) closeIdle(this.#agent.agent);
    const { origin } = identity.server;
    const { log } = this.#options;
    if (!identity.tls.rejectUnauthorized) log.warn("the API server's certificate is not checked", { server: origin });
    if (identity.proxy !== undefined)
      log.info("the API server is reached through a proxy", { server: origin, proxy: new URL(identity.proxy).host });
    const agent = makeAgent(identity);
    this.#agent = { key: identity.connectionKey, agent };
    return agent;
  }

  async #check(response: IncomingMessage, request: ApiRequest): Promise<void> {
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return;
    const what = whatOf(request);
    if (status >= 300 && status < 400) {
      response.destroy();
      throw new DatastoreError("invalid", `${what}: the server sends us elsewhere, which is never followed`, {
        status,
      });
    }
    const text = await readText(response, { maxBytes: apiLimits.errorBytes, what, request }).catch(() => "");
    request.signal?.throwIfAborted();
    const retryAfter = response.headers["retry-after"];
    throw statusError(status, parseOrText(text), { retryAfter, wallMs: this.#options.clock.wallMs(), what });
  }
}

class StaleConnection extends Error {}

function makeAgent({ agent, server, proxy, tls }: Identity): HttpAgent {
  if (agent !== undefined) {
    Object.assign(agent.options, tlsOptions(tls)); // it was made from the kubeconfig alone, and settings come first
    return agent;
  }
  const common = {
    keepAlive: true,
    maxSockets: apiLimits.sockets,
    maxFreeSockets: 8,
    scheduling: "lifo",
    // Whether there is a proxy has been decided, so Node gets no NO_PROXY to decide again.
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  } as const;
  return server.protocol === "http:" ? new HttpAgent(common) : new HttpsAgent({ ...common, ...tlsOptions(tls) });
}

function tlsOptions(tls: Identity["tls"]) {
  return { ...tls, minVersion: "TLSv1.2" } as const;
}

function sendOnce(request: ApiRequest, identity: CurrentIdentity, agent: HttpAgent): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const what = whatOf(request);
  const body = request.body === undefined ? undefined : writeJson(request.body);
  const options: RequestOptions = {
    agent,
    method: request.method,
    signal: request.signal,
    headers: {
      ...identity.headers,
      accept: "application/json",
      "user-agent": "cattail",
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    },
  };
  const base = identity.server.pathname.replace(/\/$/, "");
  const url = new URL(`${base}${request.path}`, identity.server);
  const sending = (identity.server.protocol === "http:" ? requestHttp : requestHttps)(url, options);
  const timer = setTimeout(() => {
    sending.destroy(new DatastoreError("unavailable", `${what}: no answer for ${apiLimits.answerMs / 1000} s`));
  }, apiLimits.answerMs);
  sending.once("socket", (socket) => socket.setKeepAlive(true, 30_000));
  sending.once("response", (response) => {
    clearTimeout(timer);
    // Errors of the stream belong to whoever reads it; without a listener one between two readers would be a crash.
    response.on("error", () => undefined);
    resolve(response);
  });
  sending.on("error", (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    const isStale = sending.reusedSocket && error.code === "ECONNRESET" && request.method === "GET";
    reject(
      isStale ? new StaleConnection() : request.signal?.aborted ? request.signal.reason : connectionError(error, what),
    );
  });
  sending.end(body);
  return promise;
}

type ReadOptions = { readonly maxBytes: number; readonly what: string; readonly request: ApiRequest };

async function readText(response: IncomingMessage, { maxBytes, what, request }: ReadOptions): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => {
    response.destroy(new DatastoreError("unavailable", `${what}: the answer stopped coming`));
  }, apiLimits.pageSilenceMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh();
      bytes += chunk.length;
      if (bytes > maxBytes) throw new DatastoreError("invalid", `${what}: the answer has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    throw connectionError(error, what);
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

function parseAnswer(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new DatastoreError("invalid", `${what}: the answer is not JSON`, { cause: error });
  }
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a proxy's HTML, or nothing
  }
}

function whatOf({ method, path }: ApiRequest): string {
  return `${method} ${path.length > 200 ? `${path.slice(0, 200)}…` : path}`;
}

function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

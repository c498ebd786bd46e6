// Requests to the API server over keep-alive connections that all lists and watches share: every answer is either a
// success or a KubeError. Redirects are never followed, whoever sends them: they would take the token along.
import type { Agent, IncomingMessage } from "node:http";
import type { Clock, LastGood, Log } from "../lib/index.ts";
import { closeIdle, makeAgent } from "./connection/agent.ts";
import { RateLimit } from "./connection/rate-limit.ts";
import {
  type ApiRequest,
  parseAnswer,
  parseOrText,
  readText,
  StaleConnection,
  sendRequest,
} from "./connection/send-request.ts";
import { type CurrentIdentity, credentials } from "./identity/credentials.ts";
import { identityLoader } from "./identity/load-identity.ts";
import { connectionError, isKubeError, KubeError, statusError } from "./kube-error.ts";
import { defaultClientBurst, defaultClientQps, type KubeSettings, kubeLimits } from "./settings.ts";

export type ApiClientOptions = {
  readonly clock: Clock;
  readonly log: Log;
};

export class ApiClient implements Disposable {
  readonly #options: ApiClientOptions;
  readonly #rateLimit: RateLimit;
  readonly #credentials: LastGood<CurrentIdentity>;
  readonly #readsAgain: number;
  #agent: { readonly key: string; readonly agent: Agent } | undefined;

  constructor(settings: KubeSettings, options: ApiClientOptions) {
    this.#options = options;
    this.#rateLimit = new RateLimit(options.clock, {
      perSecond: settings.clientQps || defaultClientQps,
      burst: settings.clientBurst || defaultClientBurst,
    });
    this.#readsAgain = settings.readsAgain ?? 0;
    this.#credentials = credentials({ ...options, load: identityLoader(settings, options.clock) });
  }

  /** The parsed answer. */
  async json(request: ApiRequest): Promise<unknown> {
    const response = await this.open(request);
    const what = whatOf(request);
    return parseAnswer(await this.#read(response, request, kubeLimits.answerBytes), what);
  }

  /** The answer as it starts to come in; the reader must read it to its end or destroy it. */
  async open(request: ApiRequest): Promise<IncomingMessage> {
    if (!request.isUnlimited) await this.#rateLimit.take(request.signal);
    for (let again = 0; ; again++) {
      try {
        return await this.#answer(request);
      } catch (error) {
        const isPatient = request.method === "GET" && again < this.#readsAgain;
        if (!isPatient || !isKubeError(error, "rate-limited")) throw error;
        const waitMs = Math.min(error.retryAfterMs ?? kubeLimits.comeBackUnsaidMs, kubeLimits.comeBackMs);
        await this.#options.clock.sleep(waitMs, request.signal);
      }
    }
  }

  async #answer(request: ApiRequest): Promise<IncomingMessage> {
    for (let attempt = 0; ; attempt++) {
      const identity = await this.#credentials.current().catch((error: unknown) => {
        throw new KubeError("unauthorized", `${error}`, { cause: error });
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
      return await this.#sendOnce(request, identity);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!(error instanceof StaleConnection)) throw error;
    }
    // The server may close a kept connection just as we use it again. That says nothing; a second one does.
    try {
      return await this.#sendOnce(request, identity);
    } catch (error) {
      throw error instanceof StaleConnection ? connectionError(error.cause, whatOf(request)) : error;
    }
  }

  #sendOnce(request: ApiRequest, identity: CurrentIdentity): Promise<IncomingMessage> {
    const agent = this.#agentFor(identity);
    return sendRequest(request, { identity, agent, what: whatOf(request), clock: this.#options.clock });
  }

  #read(response: IncomingMessage, request: ApiRequest, maxBytes: number): Promise<string> {
    return readText(response, { maxBytes, what: whatOf(request), signal: request.signal, clock: this.#options.clock });
  }

  // New certificates make a new agent; what is under way on the old one's connections goes on, idle ones close.
  #agentFor(identity: CurrentIdentity): Agent {
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
      throw new KubeError("invalid", `${what}: the server sends us elsewhere, which is never followed`, {
        status,
      });
    }
    const text = await this.#read(response, request, kubeLimits.errorBytes).catch(() => "");
    request.signal?.throwIfAborted();
    const retryAfter = response.headers["retry-after"];
    throw statusError(status, parseOrText(text), { retryAfter, wallMs: this.#options.clock.wallMs(), what });
  }
}

function whatOf({ method, path }: ApiRequest): string {
  return `${method} ${path.length > 200 ? `${path.slice(0, 200)}…` : path}`;
}

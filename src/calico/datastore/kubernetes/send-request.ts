// One request on one connection, up to the headers of its answer.
import { type Agent, type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import type { Clock } from "../../../base/lib/index.ts";
import { DatastoreError } from "../errors.ts";
import { writeJson } from "../write-json.ts";
import type { ApiRequest } from "./api-client.ts";
import type { Identity } from "./load-identity.ts";
import { apiLimits } from "./settings.ts";
import { connectionError } from "./status-error.ts";

/** The server closed a kept connection just as it was used again. */
export class StaleConnection extends Error {}

export type SendOptions = {
  readonly identity: Identity;
  readonly agent: Agent;
  /** The request in words, for errors. */
  readonly what: string;
  readonly clock: Clock;
};

export function sendRequest(
  request: ApiRequest,
  { identity, agent, what, clock }: SendOptions,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
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
  const settled = new AbortController();
  clock.sleep(apiLimits.answerMs, settled.signal).then(
    () => sending.destroy(new DatastoreError("unavailable", `${what}: no answer for ${apiLimits.answerMs / 1000} s`)),
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
      isStale ? new StaleConnection() : request.signal?.aborted ? request.signal.reason : connectionError(error, what),
    );
  });
  sending.end(body);
  return promise;
}

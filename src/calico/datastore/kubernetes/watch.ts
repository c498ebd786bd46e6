// A watch as the API server streams it: one JSON object per line, {"type", "object"}. The same reader serves streamed
// lists, which are watches that start with everything.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../base/lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type { Revision, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { isJsonObject, metadataOf } from "../identify.ts";
import type { ApiClient } from "./api-client.ts";
import { LineSplitter } from "./json-lines.ts";
import { parseText } from "./parse-text.ts";
import { revisionOf, storedObject } from "./read-object.ts";
import { apiLimits } from "./settings.ts";
import { connectionError, statusError } from "./status-error.ts";

export type ApiEvent = WatchEvent | { readonly is: "initial-events-end"; readonly revision: Revision };

export type WatchRequest = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly kind: Kind;
  readonly path: string;
  readonly signal: AbortSignal;
};

/** The events of each piece of the stream as it arrives. Ends when the server ends the stream between two lines. */
export async function* readEvents(request: WatchRequest): AsyncGenerator<ApiEvent[], void, undefined> {
  yield* eventsOf(await openStream(request), request);
}

/** Whoever opens it must read it. */
export function openStream({ client, path, signal }: WatchRequest): Promise<IncomingMessage> {
  return client.open({ method: "GET", path, signal });
}

export async function* eventsOf(
  response: IncomingMessage,
  request: WatchRequest,
): AsyncGenerator<ApiEvent[], void, undefined> {
  const { path, signal } = request;
  const lines = new LineSplitter(apiLimits.lineBytes);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const { events, failure } = readPiece(request, lines, chunk);
      if (events.length > 0) yield events;
      if (failure !== undefined) throw failure;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw connectionError(error, `watch ${path}`);
  } finally {
    stop(response);
  }
  if (lines.isInsideLine)
    throw new DatastoreError("unavailable", `watch ${path}: the stream broke off inside an event`);
}

// What came before a bad line, or before the server's last word, still counts.
function readPiece(request: WatchRequest, lines: LineSplitter, chunk: Buffer) {
  const events: ApiEvent[] = [];
  try {
    for (const line of lines.push(chunk)) events.push(readEvent(request, line));
  } catch (failure) {
    return { events, failure };
  }
  return { events, failure: undefined };
}

function readEvent({ kind, path, clock }: WatchRequest, line: string): ApiEvent {
  const { type, object } = parseLine(line, path);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return { is: "set", object: storedObject(kind, object) };
    case "DELETED": {
      const { id, revision } = storedObject(kind, object);
      return { is: "delete", id, revision };
    }
    case "BOOKMARK": {
      const annotations = metadataOf(object).annotations;
      const isEnd = isJsonObject(annotations) && annotations["k8s.io/initial-events-end"] === "true";
      return { is: isEnd ? "initial-events-end" : "bookmark", revision: revisionOf(object) };
    }
    case "ERROR": {
      const code = isJsonObject(object) && typeof object.code === "number" ? object.code : 500;
      throw statusError(code, object, { wallMs: clock.wallMs(), what: `watch ${path}` });
    }
    default:
      throw new DatastoreError(
        "invalid",
        `watch ${path}: unknown event type ${JSON.stringify(`${type}`.slice(0, 40))}`,
      );
  }
}

function parseLine(line: string, path: string): { type?: unknown; object?: unknown } {
  try {
    const event = parseText(line);
    if (isJsonObject(event)) return event;
  } catch (error) {
    throw new DatastoreError("invalid", `watch ${path}: a line is not JSON`, { cause: error });
  }
  throw new DatastoreError("invalid", `watch ${path}: a line is not an object`);
}

// A watch that is left before its end cannot give its connection back.
function stop(response: IncomingMessage): void {
  if (!response.complete) response.destroy();
}

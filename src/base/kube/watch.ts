// A watch as the API server streams it: one JSON object per line, {"type", "object"}. The same reader serves streamed
// lists, which are watches that start with everything.
import type { IncomingMessage } from "node:http";
import { type Clock, isRecord } from "../lib/index.ts";
import type { ApiClient } from "./api-client.ts";
import { parseText } from "./connection/send-request.ts";
import { connectionError, KubeError, statusError } from "./kube-error.ts";
import { metadataOf, revisionOf } from "./object-metadata.ts";
import { kubeLimits } from "./settings.ts";

/** `Value` is what the caller makes of an object. */
export type KubeEvent<Value> =
  | { readonly is: "set"; readonly object: Value }
  | { readonly is: "delete"; readonly object: Value }
  | { readonly is: "bookmark"; readonly revision: string }
  /** The end of the list that a streamed list begins with. */
  | { readonly is: "initial-events-end"; readonly revision: string };

export type StreamRequest<Value> = {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** With the query. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** What it throws ends the stream as it is, after the events that came before. */
  readonly read: (object: unknown) => Value;
};

export type WatchRequest<Value> = StreamRequest<Value> & { readonly from: string };

/** The events of each piece of the stream as it arrives. Ends when the server ends the stream between two lines. */
export async function* watch<Value>(request: WatchRequest<Value>): AsyncGenerator<KubeEvent<Value>[], void, undefined> {
  const query = new URLSearchParams({ watch: "true", resourceVersion: request.from, allowWatchBookmarks: "true" });
  const streamed = { ...request, path: withQuery(request.path, query) };
  yield* eventsOf(await openStream(streamed), streamed);
}

/** A path may have a query of its own: a selector. */
export function withQuery(path: string, query: URLSearchParams): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** Whoever opens it must read it. */
export function openStream({ client, path, signal }: StreamRequest<unknown>): Promise<IncomingMessage> {
  return client.open({ method: "GET", path, signal });
}

export async function* eventsOf<Value>(
  response: IncomingMessage,
  request: StreamRequest<Value>,
): AsyncGenerator<KubeEvent<Value>[], void, undefined> {
  const { path, signal } = request;
  const lines = new LineSplitter(kubeLimits.lineBytes);
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const piece = readPiece(request, lines, chunk);
      if (piece.events.length > 0) yield piece.events;
      failure = piece.failure;
      if (failure !== undefined) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw connectionError(error, `watch ${path}`);
  } finally {
    stop(response);
  }
  if (failure !== undefined) throw failure.error;
  if (lines.isInsideLine) throw new KubeError("unavailable", `watch ${path}: the stream broke off inside an event`);
}

// What came before a bad line, or before the server's last word, still counts.
function readPiece<Value>(request: StreamRequest<Value>, lines: LineSplitter, chunk: Buffer) {
  const events: KubeEvent<Value>[] = [];
  try {
    for (const line of lines.push(chunk)) events.push(readEvent(request, line));
  } catch (error) {
    return { events, failure: { error } };
  }
  return { events, failure: undefined };
}

function readEvent<Value>({ read, path, clock }: StreamRequest<Value>, line: string): KubeEvent<Value> {
  const { type, object } = parseLine(line, path);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return { is: "set", object: read(object) };
    case "DELETED":
      return { is: "delete", object: read(object) };
    case "BOOKMARK": {
      const annotations = metadataOf(object).annotations;
      const isEnd = isRecord(annotations) && annotations["k8s.io/initial-events-end"] === "true";
      return { is: isEnd ? "initial-events-end" : "bookmark", revision: revisionOf(object) };
    }
    case "ERROR": {
      const code = isRecord(object) && typeof object.code === "number" ? object.code : 500;
      throw statusError(code, object, { wallMs: clock.wallMs(), what: `watch ${path}` });
    }
    default:
      throw new KubeError("invalid", `watch ${path}: unknown event type ${JSON.stringify(`${type}`.slice(0, 40))}`);
  }
}

function parseLine(line: string, path: string): { type?: unknown; object?: unknown } {
  try {
    const event = parseText(line);
    if (isRecord(event)) return event;
  } catch (error) {
    throw new KubeError("invalid", `watch ${path}: a line is not JSON`, { cause: error });
  }
  throw new KubeError("invalid", `watch ${path}: a line is not an object`);
}

// A watch that is left before its end cannot give its connection back.
function stop(response: IncomingMessage): void {
  if (!response.complete) response.destroy();
}

const newline = 0x0a;

/** A line may come in any number of pieces; one that is too long is an error before it is memory. */
class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end < 0) break;
      const line = this.#take(chunk.subarray(start, end));
      start = end + 1;
      if (line !== "") yield line;
    }
    if (start === chunk.length) return;
    const rest = chunk.subarray(start);
    this.#count(rest.length);
    this.#pieces.push(rest);
  }

  /** Whether the stream broke off inside a line. */
  get isInsideLine(): boolean {
    return this.#pieces.length > 0;
  }

  #take(last: Buffer): string {
    this.#count(last.length);
    const text =
      this.#pieces.length === 0 ? last.toString("utf8") : Buffer.concat([...this.#pieces, last]).toString("utf8");
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) {
      throw new KubeError("invalid", `the server sent a line of more than ${this.#maxBytes} bytes`);
    }
  }
}

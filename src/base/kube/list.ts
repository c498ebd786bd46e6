// A collection's whole content in pages. A server that can streams it (a watch that starts with everything and marks its
// end): one request, served from the API server's memory, item by item. Others are asked for pages of 500, all of one
// revision. Both are consistent reads, so a fresh list is never older than what was seen before.
import type { IncomingMessage } from "node:http";
import { type Clock, isRecord, unreachable } from "../lib/index.ts";
import type { ApiClient } from "./api-client.ts";
import { isKubeError, KubeError } from "./kube-error.ts";
import { metadataOf, revisionOf } from "./object-metadata.ts";
import { kubeLimits } from "./settings.ts";
import { eventsOf, openStream, type StreamRequest, withQuery } from "./watch.ts";

export type ListPage<Value> = {
  readonly items: readonly Value[];
  /** Deleted while the list was under way, after the items: what this page or an earlier one said of it is over. */
  readonly gone?: Value;
  /** The revision of the whole list, where a watch goes on. A streamed list knows it only on its last page: "" before. */
  readonly revision: string;
};

/** `path` is the collection's, with no query but a selector. */
export type ListRequest<Value> = StreamRequest<Value> & {
  readonly notOlderThan: string | undefined;
  /** Whether the signal aborted because nothing was heard for too long: then the server does not list, it watches. */
  readonly isSilence: (reason: unknown) => boolean;
};

/**
 * Whether to ask for a stream, learnt from the server's answers. Kept beside the client. A server, or a proxy in front of
 * it, that does not know the request may refuse it, or take it for a plain watch, whose end never comes. The first is
 * told at once, the second by what a list never does (see streamList); both hold for all collections. A stream that breaks off
 * tells nothing by itself: connections break. Only when that goes on does its collection, and no other, change over.
 */
export class ListStyle {
  readonly #clock: Clock;
  #pagesUntilMs = Number.NEGATIVE_INFINITY;
  readonly #broken = new Map<string, { readonly inARow: number; readonly lastMs: number }>();

  constructor(clock: Clock, mayStream: boolean) {
    this.#clock = clock;
    if (!mayStream) this.#pagesUntilMs = Number.POSITIVE_INFINITY;
  }

  isStreamed(collection: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { inARow = 0, lastMs = 0 } = this.#broken.get(collection) ?? {};
    const isBroken = inARow >= kubeLimits.brokenStreamsBeforePages && nowMs < lastMs + kubeLimits.streamedListRetryMs;
    return nowMs >= this.#pagesUntilMs && !isBroken;
  }

  refused(): void {
    this.#pagesUntilMs = Math.max(this.#pagesUntilMs, this.#clock.monotonicMs() + kubeLimits.streamedListRetryMs);
  }

  brokeOff(collection: string): void {
    const { inARow = 0 } = this.#broken.get(collection) ?? {};
    this.#broken.set(collection, { inARow: inARow + 1, lastMs: this.#clock.monotonicMs() });
  }

  /** To watch this collection; rights come and go, so it is tried again some day. */
  forbidden(collection: string): void {
    this.#broken.set(collection, {
      inARow: kubeLimits.brokenStreamsBeforePages,
      lastMs: this.#clock.monotonicMs(),
    });
  }

  completed(collection: string): void {
    this.#broken.delete(collection);
  }
}

export async function* list<Value>(
  request: ListRequest<Value>,
  style: ListStyle,
): AsyncGenerator<ListPage<Value>, void, undefined> {
  const { path: collection } = request;
  const streamed = streamRequest(request);
  const stream = style.isStreamed(collection) ? await openUnlessRefused(streamed, { style, collection }) : undefined;
  if (stream === undefined) return yield* pageList(request);
  try {
    yield* streamList(stream, streamed, style);
    style.completed(collection);
  } catch (error) {
    // Pages come with the next try: of what the stream has said, nobody knows whether it still holds.
    if (request.isSilence(request.signal.reason)) style.refused();
    else if (isKubeError(error, "unavailable", "invalid")) style.brokeOff(collection);
    throw error;
  }
}

function streamRequest<Value>(request: ListRequest<Value>): StreamRequest<Value> {
  const query = new URLSearchParams({
    watch: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  });
  if (request.notOlderThan !== undefined) query.set("resourceVersion", request.notOlderThan);
  return { ...request, path: withQuery(request.path, query) };
}

/**
 * The only objection a server has to a well-formed request for a stream is that it does not know the kind of request; or that
 * whoever asks may list, and not watch: a stream is a watch.
 */
async function openUnlessRefused(
  request: StreamRequest<unknown>,
  { style, collection }: { readonly style: ListStyle; readonly collection: string },
): Promise<IncomingMessage | undefined> {
  try {
    return await openStream(request);
  } catch (error) {
    if (isKubeError(error, "forbidden")) style.forbidden(collection);
    else if (isKubeError(error, "invalid") && (error.status === 400 || error.status === 422)) style.refused();
    else throw error;
    return undefined;
  }
}

async function* streamList<Value>(
  stream: IncomingMessage,
  request: StreamRequest<Value>,
  style: ListStyle,
): AsyncGenerator<ListPage<Value>, void, undefined> {
  let items: Value[] = [];
  for await (const events of eventsOf(stream, request)) {
    for (const event of events) {
      switch (event.is) {
        case "initial-events-end":
          return yield { items, revision: event.revision };
        case "bookmark":
          // The first bookmark of a streamed list is its end; this is a watch.
          style.refused();
          throw new KubeError("unavailable", `list ${request.path}: the server watches, and does not list`);
        case "set":
          items.push(event.object);
          if (items.length < kubeLimits.streamedItems) break;
          yield { items, revision: notKnownYet };
          items = [];
          break;
        case "delete": // made while the list was under way
          yield { items, gone: event.object, revision: notKnownYet };
          items = [];
          break;
        default:
          unreachable(event);
      }
    }
  }
  throw new KubeError("unavailable", `list ${request.path}: the stream ended before the list did`);
}

const notKnownYet = "";

async function* pageList<Value>(request: ListRequest<Value>): AsyncGenerator<ListPage<Value>> {
  const { client, path, notOlderThan, signal, read } = request;
  const from = { resourceVersion: `${notOlderThan}`, resourceVersionMatch: "NotOlderThan" };
  const query = notOlderThan === undefined ? {} : from;
  let revision: string | undefined;
  for await (const { answer, items } of readPages({ client, path, query, signal })) {
    revision ??= revisionOf(answer);
    yield { items: items.map(read), revision };
  }
}

export type PagesRequest = {
  readonly client: ApiClient;
  /** Of the collection, with no query but a selector. */
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly signal: AbortSignal | undefined;
};

/** A list as the server hands it out, page by page; nobody has checked the items' shape. */
export async function* readPages(
  request: PagesRequest,
): AsyncGenerator<{ readonly answer: unknown; readonly items: readonly unknown[] }> {
  const { client, path, signal } = request;
  const query = new URLSearchParams({ limit: `${kubeLimits.pageItems}`, ...request.query });
  for (let isUnlimited = false; ; isUnlimited = true) {
    const answer = await client.json({ method: "GET", path: withQuery(path, query), signal, isUnlimited });
    const items = isRecord(answer) ? answer.items : undefined;
    // An empty list of a custom resource has "items": [], one of a typed kind may have null.
    if (!Array.isArray(items) && items !== null) throw new KubeError("invalid", `list ${path}: no items`);
    yield { answer, items: items ?? [] };
    const next = metadataOf(answer).continue;
    if (typeof next !== "string" || next === "") return;
    // The token holds the revision; the server refuses to be told it twice.
    query.delete("resourceVersion");
    query.delete("resourceVersionMatch");
    query.set("continue", next);
  }
}

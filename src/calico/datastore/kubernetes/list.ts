// A kind's whole content in pages. A server that can streams it (a watch that starts with everything and marks its
// end): one request, served from the API server's memory, item by item. Others are asked for pages of 500, all of one
// revision. Both are consistent reads, so a fresh list is never older than what was seen before.
import type { IncomingMessage } from "node:http";
import { type Clock, unreachable } from "../../../base/lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type { ListPage, Revision, StoredObject } from "../datastore.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { isJsonObject, metadataOf } from "../identify.ts";
import type { ApiClient } from "./api-client.ts";
import { revisionOf, storedObject } from "./read-object.ts";
import { apiLimits } from "./settings.ts";
import { eventsOf, openStream, type WatchRequest } from "./watch.ts";

export type ListRequest = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly kind: Kind;
  /** Of the collection, without a query. */
  readonly path: string;
  readonly notOlderThan: Revision | undefined;
  readonly signal: AbortSignal;
};

/**
 * Whether to ask for a stream, learnt from the server's answers. Kept by the datastore. A server, or a proxy in front of
 * it, that does not know the request may refuse it, or take it for a plain watch, whose end never comes. The first is
 * told at once, the second by what a list never does (see streamList); both hold for all kinds. A stream that breaks off
 * tells nothing by itself: connections break. Only when that goes on does its kind, and no other, change over.
 */
export class ListStyle {
  readonly #clock: Clock;
  #pagesUntilMs = Number.NEGATIVE_INFINITY;
  readonly #broken = new Map<Kind, { readonly inARow: number; readonly lastMs: number }>();

  constructor(clock: Clock, mayStream: boolean) {
    this.#clock = clock;
    if (!mayStream) this.#pagesUntilMs = Number.POSITIVE_INFINITY;
  }

  isStreamed(kind: Kind): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { inARow = 0, lastMs = 0 } = this.#broken.get(kind) ?? {};
    const isBroken = inARow >= apiLimits.brokenStreamsBeforePages && nowMs < lastMs + apiLimits.streamedListRetryMs;
    return nowMs >= this.#pagesUntilMs && !isBroken;
  }

  refused(): void {
    this.#pagesUntilMs = Math.max(this.#pagesUntilMs, this.#clock.monotonicMs() + apiLimits.streamedListRetryMs);
  }

  brokeOff(kind: Kind): void {
    const { inARow = 0 } = this.#broken.get(kind) ?? {};
    this.#broken.set(kind, { inARow: inARow + 1, lastMs: this.#clock.monotonicMs() });
  }

  completed(kind: Kind): void {
    this.#broken.delete(kind);
  }
}

export async function* listKind(request: ListRequest, style: ListStyle): AsyncGenerator<ListPage, void, undefined> {
  const { kind } = request;
  const streamed = streamRequest(request);
  const stream = style.isStreamed(kind) ? await openUnlessRefused(streamed, style) : undefined;
  if (stream === undefined) return yield* pageList(request);
  try {
    yield* streamList(stream, streamed, style);
    style.completed(kind);
  } catch (error) {
    // Pages come with the next try: of what the stream has said, nobody knows whether it still holds.
    if (isDatastoreError(request.signal.reason))
      style.refused(); // its follower heard nothing for too long
    else if (isDatastoreError(error, "unavailable", "invalid")) style.brokeOff(kind);
    throw error;
  }
}

function streamRequest(request: ListRequest): WatchRequest {
  const query = new URLSearchParams({
    watch: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  });
  if (request.notOlderThan !== undefined) query.set("resourceVersion", request.notOlderThan);
  return { ...request, path: `${request.path}?${query}` };
}

/** The only objection a server has to a well-formed request for a stream is that it does not know the kind of request. */
async function openUnlessRefused(request: WatchRequest, style: ListStyle): Promise<IncomingMessage | undefined> {
  try {
    return await openStream(request);
  } catch (error) {
    if (!isDatastoreError(error, "invalid") || (error.status !== 400 && error.status !== 422)) throw error;
    style.refused();
    return undefined;
  }
}

async function* streamList(
  stream: IncomingMessage,
  request: WatchRequest,
  style: ListStyle,
): AsyncGenerator<ListPage, void, undefined> {
  let items: StoredObject[] = [];
  for await (const events of eventsOf(stream, request)) {
    for (const event of events) {
      switch (event.is) {
        case "initial-events-end":
          return yield { items, revision: event.revision };
        case "bookmark":
          // The first bookmark of a streamed list is its end; this is a watch.
          style.refused();
          throw new DatastoreError("unavailable", `list ${request.path}: the server watches, and does not list`);
        case "set":
          items.push(event.object);
          if (items.length < apiLimits.streamedItems) break;
          yield { items, revision: notKnownYet };
          items = [];
          break;
        case "delete": // made while the list was under way
          yield { items, gone: [event.id], revision: notKnownYet };
          items = [];
          break;
        default:
          unreachable(event);
      }
    }
  }
  throw new DatastoreError("unavailable", `list ${request.path}: the stream ended before the list did`);
}

const notKnownYet = "" as Revision;

async function* pageList({ client, kind, path, notOlderThan, signal }: ListRequest): AsyncGenerator<ListPage> {
  const from = { resourceVersion: `${notOlderThan}`, resourceVersionMatch: "NotOlderThan" };
  const query = notOlderThan === undefined ? {} : from;
  let revision: Revision | undefined;
  for await (const { answer, items } of readPages({ client, path, query, signal })) {
    revision ??= revisionOf(answer);
    yield { items: items.map((item) => storedObject(kind, item)), revision };
  }
}

export type PagesRequest = {
  readonly client: ApiClient;
  /** Of the collection, without a query. */
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly signal: AbortSignal | undefined;
};

/** A list as the server hands it out, page by page; nobody has checked the items' shape. */
export async function* readPages(
  request: PagesRequest,
): AsyncGenerator<{ readonly answer: unknown; readonly items: readonly unknown[] }> {
  const { client, path, signal } = request;
  const query = new URLSearchParams({ limit: `${apiLimits.pageItems}`, ...request.query });
  for (let isUnlimited = false; ; isUnlimited = true) {
    const answer = await client.json({ method: "GET", path: `${path}?${query}`, signal, isUnlimited });
    const items = isJsonObject(answer) ? answer.items : undefined;
    // An empty list of a custom resource has "items": [], one of a typed kind may have null.
    if (!Array.isArray(items) && items !== null) throw new DatastoreError("invalid", `list ${path}: no items`);
    yield { answer, items: items ?? [] };
    const next = metadataOf(answer).continue;
    if (typeof next !== "string" || next === "") return;
    // The token holds the revision; the server refuses to be told it twice.
    query.delete("resourceVersion");
    query.delete("resourceVersionMatch");
    query.set("continue", next);
  }
}

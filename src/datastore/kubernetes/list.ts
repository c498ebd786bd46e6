// A kind's whole content in pages. A server that can streams it (a watch that starts with everything and marks its
// end): one request, served from the API server's memory, item by item. Others are asked for pages of 500, all of one
// revision. Both are consistent reads, so a fresh list is never older than what was seen before.
import type { Clock } from "../../lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type { ListPage, Revision, StoredObject } from "../datastore.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { isJsonObject, metadataOf } from "../identify.ts";
import type { ApiClient } from "./api-client.ts";
import { revisionOf, storedObject } from "./read-object.ts";
import { apiLimits } from "./settings.ts";
import { readEvents } from "./watch.ts";

export type ListRequest = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly kind: Kind;
  /** Of the collection, without a query. */
  readonly path: string;
  readonly notOlderThan: Revision | undefined;
  readonly signal: AbortSignal;
};

/** Whether the server streams lists, learnt from its answers. Kept by the datastore for all kinds. */
export class ListStyle {
  readonly #clock: Clock;
  #pagesUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, mayStream: boolean) {
    this.#clock = clock;
    if (!mayStream) this.#pagesUntilMs = Number.POSITIVE_INFINITY;
  }

  get isStreamed(): boolean {
    return this.#clock.monotonicMs() >= this.#pagesUntilMs;
  }

  refused(): void {
    this.#pagesUntilMs = this.#clock.monotonicMs() + apiLimits.streamedListRetryMs;
  }
}

export async function* listKind(request: ListRequest, style: ListStyle): AsyncGenerator<ListPage, void, undefined> {
  if (style.isStreamed) {
    try {
      yield* streamList(request);
      return;
    } catch (error) {
      // The only objection a server has to a well-formed request for a stream is that it does not know the kind of
      // request; it comes before the first item.
      if (!isDatastoreError(error, "invalid") || (error.status !== 400 && error.status !== 422)) throw error;
      style.refused();
    }
  }
  yield* pageList(request);
}

async function* streamList(request: ListRequest): AsyncGenerator<ListPage, void, undefined> {
  const query = new URLSearchParams({
    watch: "true",
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  });
  if (request.notOlderThan !== undefined) query.set("resourceVersion", request.notOlderThan);
  let items: StoredObject[] = [];
  for await (const events of readEvents({ ...request, path: `${request.path}?${query}` })) {
    for (const event of events) {
      if (event.is === "set") items.push(event.object);
      if (event.is === "initial-events-end") {
        yield { items, revision: event.revision };
        return;
      }
      if (items.length < apiLimits.streamedItems) continue;
      yield { items, revision: "" as Revision }; // not known yet
      items = [];
    }
  }
  throw new DatastoreError("unavailable", `list ${request.path}: the stream ended before the list did`);
}

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

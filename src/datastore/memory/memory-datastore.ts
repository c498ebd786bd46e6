// A datastore inside the process: for the demo, for tests, and for programs that embed the server. It keeps what the
// real ones promise (one revision for all kinds, a bounded window of history, compare-and-swap, bookmarks), and
// `intercept` lets a test put any failure in front of any step.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../lib/index.ts";
import { type Kind, kindInfo } from "../../model/index.ts";
import { withBirth } from "../birth.ts";
import type { Datastore, Flavour, ListPage, ObjectId, Revision, StoredObject, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify, isJsonObject, metadataOf } from "../identify.ts";
import { settleWithin } from "../settle-within.ts";
import { frozenCopy } from "./copy-json.ts";
import { type Change, KindTable } from "./kind-table.ts";

/** What is about to happen: a page or an event about to be handed out, a watch about to open, a call about to start. */
export type MemoryStep = {
  readonly does: "list" | "watch" | "event" | "get" | "create" | "update" | "delete";
  readonly kind: Kind;
};

export type MemoryDatastoreOptions = {
  flavour?: Flavour;
  clock?: Clock;
  /** Most changes of one kind a watch can go on from; older ones are "expired". */
  mostChanges?: number;
  pageSize?: number;
  /** How long an idle watch waits before it says its revision. */
  bookmarkIntervalMs?: number;
  makeUid?: () => string;
  /** "as-given": no uid and no birth are made up for objects that lack them. */
  metadata?: "completed" | "as-given";
  /** Called before each step; may wait, or throw the failure that step shall have. */
  intercept?: (step: MemoryStep) => void | Promise<void>;
};

export type MemoryDatastore = Datastore & {
  /** Creates or replaces, whatever the revision. */
  put(kind: Kind, value: unknown, options?: { id?: ObjectId }): Promise<StoredObject>;
  revision(): Revision;
  /** Forgets all history: a watch from an older revision is "expired". */
  compact(): void;
  /** Ends every open watch as a server that closes the stream does. */
  endWatches(): void;
  setIntercept(intercept: MemoryDatastoreOptions["intercept"]): void;
};

export function createMemoryDatastore(options: MemoryDatastoreOptions = {}): MemoryDatastore {
  const { flavour = "kubernetes", clock = systemClock, mostChanges = 10_000, pageSize = 500 } = options;
  const { bookmarkIntervalMs = 60_000, makeUid = randomUUID } = options;
  let intercept = options.intercept;
  let revision = 0n;
  let compacted = 0n;
  let era = 0; // changes when watches shall end
  let isClosed = false;
  const tables = new Map<Kind, KindTable>();
  const sleepers = new Set<() => void>();

  const datastore: MemoryDatastore = {
    flavour,
    async *list(kind, { signal, notOlderThan }) {
      await before({ does: "list", kind }, signal);
      const table = tableOf(kind);
      if (notOlderThan !== undefined && parse(notOlderThan) > revision) throw notYet(notOlderThan);
      const items = table.all();
      const at = text(revision);
      for (let start = 0; start === 0 || start < items.length; start += pageSize) {
        if (start > 0) await before({ does: "list", kind }, signal);
        yield { items: items.slice(start, start + pageSize), revision: at } satisfies ListPage;
      }
    },
    async *watch(kind, { from, signal }) {
      await before({ does: "watch", kind }, signal);
      const table = tableOf(kind);
      const openedIn = era;
      let at = parse(from);
      if (at > revision) throw notYet(from);
      if (at < compacted) throw tooOld(kind, at);
      while (!isClosed && era === openedIn) {
        if (at < table.floor) throw tooOld(kind, at);
        const change = table.next(at);
        if (change !== undefined) {
          await before({ does: "event", kind }, signal);
          at = change.at;
          yield toEvent(change);
          continue;
        }
        at = revision; // every change of this kind up to here was handed out
        if ((await changed(signal)) === "silence") yield { is: "bookmark", revision: text(at) };
      }
    },
    async get(kind, id, { signal } = {}) {
      await before({ does: "get", kind }, signal);
      return tableOf(kind).get(id);
    },
    async create(kind, value, { id, signal } = {}) {
      await before({ does: "create", kind }, signal);
      const table = tableOf(kind);
      const name = id ?? identify(kind, value);
      if (table.get(name) !== undefined) throw new DatastoreError("exists", `${kind} ${name.name} exists`);
      return set(kind, name, value);
    },
    async update(kind, object, { signal } = {}) {
      await before({ does: "update", kind }, signal);
      existing(kind, object.id, object.revision);
      return set(kind, object.id, object.value);
    },
    async delete(kind, id, { revision: expected, signal } = {}) {
      await before({ does: "delete", kind }, signal);
      existing(kind, id, expected);
      revision += 1n;
      tableOf(kind).apply({ at: revision, is: "delete", id });
      wake();
    },
    async put(kind, value, { id } = {}) {
      return set(kind, id ?? identify(kind, value), value);
    },
    revision: () => text(revision),
    compact() {
      compacted = revision;
      for (const table of tables.values()) table.compact();
      wake();
    },
    endWatches() {
      era += 1;
      wake();
    },
    setIntercept(next) {
      intercept = next;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      wake();
    },
  };
  return datastore;

  async function before(step: MemoryStep, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (isClosed) throw new DatastoreError("unavailable", "the datastore is closed");
    await intercept?.(step);
    signal?.throwIfAborted();
  }

  function tableOf(kind: Kind): KindTable {
    const info = kindInfo(kind);
    const isServed = flavour === "kubernetes" ? info.kubernetes !== undefined : info.etcdPrefix !== undefined;
    if (!isServed) throw new DatastoreError("not-found", `${kind} does not exist in a datastore of flavour ${flavour}`);
    const known = tables.get(kind);
    if (known !== undefined) return known;
    const table = new KindTable(mostChanges);
    tables.set(kind, table);
    return table;
  }

  function existing(kind: Kind, id: ObjectId, expected: Revision | undefined): void {
    const found = tableOf(kind).get(id);
    if (found === undefined) throw new DatastoreError("not-found", `${kind} ${id.name} does not exist`);
    if (expected !== undefined && found.revision !== expected) {
      throw new DatastoreError("conflict", `${kind} ${id.name} is at revision ${found.revision}, not ${expected}`);
    }
  }

  function set(kind: Kind, id: ObjectId, value: unknown): StoredObject {
    const table = tableOf(kind);
    const next = revision + 1n;
    const stored = frozenCopy(named(value, id, { previous: table.get(id), next }));
    revision = next;
    const object: StoredObject = { id, revision: text(next), value: stored };
    table.apply({ at: next, is: "set", object });
    wake();
    return object;
  }

  // As an API server does it: the uid and the birth stay, the revision is written into the object. Values of etcd's
  // flavour that are no API objects (blocks, affinities) are left as they are.
  function named(value: unknown, id: ObjectId, was: { previous: StoredObject | undefined; next: bigint }): unknown {
    if (!isJsonObject(value)) throw new DatastoreError("invalid", `${id.name}: the object is not a JSON object`);
    if (flavour === "etcdv3" && value.metadata === undefined) return value;
    const isCompleted = options.metadata !== "as-given";
    const whole = isCompleted ? withBirth(value, { birth: { makeUid, clock }, stored: was.previous?.value }) : value;
    const { resourceVersion: _, ...metadata } = metadataOf(whole);
    return {
      ...value,
      metadata: {
        ...metadata,
        ...(id.namespace === "" ? {} : { namespace: id.namespace }),
        ...(flavour === "kubernetes" ? { resourceVersion: text(was.next) } : {}),
      },
    };
  }

  function wake(): void {
    for (const resume of sleepers) resume();
    sleepers.clear();
  }

  // Resolves at the next write, or after the bookmark interval without one; rejects when the signal aborts.
  async function changed(signal: AbortSignal): Promise<"change" | "silence"> {
    const { promise, resolve } = Promise.withResolvers<void>();
    sleepers.add(resolve);
    try {
      const settled = await settleWithin(promise, { clock, limitMs: bookmarkIntervalMs, signal });
      return settled.is === "late" ? "silence" : "change";
    } finally {
      sleepers.delete(resolve);
    }
  }
}

function toEvent(change: Change): WatchEvent {
  if (change.is === "set") return { is: "set", object: change.object };
  return { is: "delete", id: change.id, revision: text(change.at) };
}

function text(revision: bigint): Revision {
  return String(revision) as Revision; // the brand is given here and taken off in parse(), nowhere else
}

function parse(revision: Revision): bigint {
  if (!/^\d{1,30}$/.test(revision)) throw new DatastoreError("invalid", `revision "${revision}" was not made here`);
  return BigInt(revision);
}

function tooOld(kind: Kind, at: bigint): DatastoreError {
  return new DatastoreError("expired", `${kind}: revision ${at} is older than the history kept`);
}

function notYet(revision: Revision): DatastoreError {
  return new DatastoreError("too-large-revision", `revision ${revision} has not been reached yet`);
}

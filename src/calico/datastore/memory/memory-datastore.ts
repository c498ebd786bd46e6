// A datastore inside the process: for the demo, for tests, and for programs that embed the server. It keeps what the
// real ones promise (one revision for all kinds, a bounded window of history, compare-and-swap, bookmarks), and
// `intercept` lets a test put any failure in front of any step.
import { randomUUID } from "node:crypto";
import { type Clock, isRecord, type JsonRecord, settleWithin, systemClock } from "../../../base/lib/index.ts";
import { type Flavour, type Kind, kindInfo, storedKind } from "../../kinds/index.ts";
import type {
  CallOptions,
  CreateOptions,
  Datastore,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectId,
  Patch,
  PatchOptions,
  Revision,
  StoredObject,
  WatchEvent,
  WatchOptions,
} from "../datastore.ts";
import { withStatusOf } from "../emulate-writes.ts";
import { DatastoreError } from "../errors.ts";
import { applyPatch } from "../merge-patch.ts";
import { neverHeld } from "../no-such-kind.ts";
import { identify, metadataOf, otherUid } from "../object-id.ts";
import { type MakeMetadata, withUidAndCreationTime } from "../uid-and-creation-time.ts";
import { narrowed, selectionOf } from "../within.ts";
import { frozenCopy } from "./copy-json.ts";
import { KindTable } from "./kind-table.ts";

/** What is about to happen: a page or an event about to be handed out, a watch about to open, a call about to start. */
export type MemoryStep = {
  readonly does: "list" | "watch" | "event" | "get" | "create" | "update" | "patch" | "delete";
  readonly kind: Kind;
};

export type MemoryDatastoreOptions = {
  readonly flavour?: Flavour;
  /** Every kind, as a folder does, and not only those of its flavour. */
  readonly holdsEveryKind?: boolean;
  readonly clock?: Clock;
  /** Most changes of one kind a watch can go on from; older ones are "expired". */
  readonly mostChanges?: number;
  readonly pageSize?: number;
  /** How long an idle watch waits before it says its revision. */
  readonly bookmarkIntervalMs?: number;
  readonly makeUid?: () => string;
  /** "as-given": no uid and no creation time are made up for objects that lack them. */
  readonly metadata?: "completed" | "as-given";
  /** Called before each step; may wait, or throw the failure that step shall have. */
  readonly intercept?: (step: MemoryStep) => void | Promise<void>;
};

export type MemoryDatastore = Datastore & {
  /** Creates or replaces, whatever the revision. */
  put(kind: Kind, value: unknown, options?: { id?: ObjectId }): Promise<StoredObject>;
  /**
   * For a datastore that has revisions of its own and keeps its objects here: what the object is at a revision later than all
   * before. Undefined: it is deleted.
   */
  place(kind: Kind, id: ObjectId, change: { value: unknown; at: bigint }): void;
  /** As it is now, without waiting. */
  peek(kind: Kind, id: ObjectId): StoredObject | undefined;
  revision(): Revision;
  /** Forgets all history: a watch from an older revision is "expired". */
  compact(): void;
  /** Ends every open watch as a server that closes the stream does. */
  endWatches(): void;
  setIntercept(intercept: MemoryDatastoreOptions["intercept"]): void;
};

export function createMemoryDatastore(options: MemoryDatastoreOptions = {}): MemoryDatastore {
  return new Memory(options);
}

class Memory implements MemoryDatastore {
  readonly flavour: Flavour;
  readonly holdsEveryKind?: true;
  readonly #clock: Clock;
  readonly #mostChanges: number;
  readonly #pageSize: number;
  readonly #bookmarkIntervalMs: number;
  /** Undefined: metadata stays as it is given. */
  readonly #makeMetadata: MakeMetadata | undefined;
  readonly #tables = new Map<Kind, KindTable>();
  /** Watches that wait for the next change of their kind. */
  readonly #sleepers = new Map<Kind, Set<() => void>>();
  #intercept: MemoryDatastoreOptions["intercept"];
  #revision = 0n;
  #compacted = 0n;
  /** Changes when watches shall end. */
  #era = 0;
  #isClosed = false;

  constructor(options: MemoryDatastoreOptions) {
    const { clock = systemClock, makeUid = randomUUID, metadata = "completed" } = options;
    this.flavour = options.flavour ?? "kubernetes";
    if (options.holdsEveryKind === true) this.holdsEveryKind = true;
    this.#clock = clock;
    this.#mostChanges = options.mostChanges ?? 10_000;
    this.#pageSize = options.pageSize ?? 500;
    this.#bookmarkIntervalMs = options.bookmarkIntervalMs ?? 60_000;
    this.#makeMetadata = metadata === "completed" ? { clock, makeUid } : undefined;
    this.#intercept = options.intercept;
  }

  async *list(kind: Kind, { signal, notOlderThan, within }: ListOptions): AsyncGenerator<ListPage> {
    const selection = selectionOf(within);
    await this.#before({ does: "list", kind }, signal);
    const table = this.#tableOf(kind);
    if (notOlderThan !== undefined && parse(notOlderThan) > this.#revision) throw notYet(notOlderThan);
    const items = table.all().filter((object) => selection.has(object));
    const revision = this.revision();
    for (let start = 0; start === 0 || start < items.length; start += this.#pageSize) {
      if (start > 0) await this.#before({ does: "list", kind }, signal);
      yield { items: items.slice(start, start + this.#pageSize), revision };
    }
  }

  async *watch(kind: Kind, { from, signal, within }: WatchOptions): AsyncGenerator<WatchEvent[]> {
    const selection = selectionOf(within);
    await this.#before({ does: "watch", kind }, signal);
    const table = this.#tableOf(kind);
    const openedIn = this.#era;
    let at = parse(from);
    if (at > this.#revision) throw notYet(from);
    if (at < this.#compacted) throw tooOld(kind, at);
    let spokeAtMs = this.#clock.monotonicMs();
    while (!this.#isClosed && this.#era === openedIn) {
      if (at < table.floor) throw tooOld(kind, at);
      const change = table.next(at);
      if (change !== undefined) {
        await this.#before({ does: "event", kind }, signal);
        at = change.at;
        const event = narrowed(selection, { ...change, revision: text(at) });
        if (event === undefined) continue;
        yield [event];
        spokeAtMs = this.#clock.monotonicMs();
        continue;
      }
      at = this.#revision; // every change of this kind up to here was handed out
      const leftMs = spokeAtMs + this.#bookmarkIntervalMs - this.#clock.monotonicMs();
      if (leftMs > 0) await this.#changed(kind, leftMs, signal);
      else {
        yield [{ is: "bookmark", revision: text(at) }];
        spokeAtMs = this.#clock.monotonicMs();
      }
    }
  }

  async get(kind: Kind, id: ObjectId, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    await this.#before({ does: "get", kind }, signal);
    return this.#tableOf(kind).get(id);
  }

  async create(kind: Kind, value: unknown, options: CreateOptions = {}): Promise<StoredObject> {
    await this.#before({ does: "create", kind }, options.signal);
    const table = this.#tableOf(kind);
    const id = options.id ?? identify(kind, value);
    if (table.get(id) !== undefined) throw new DatastoreError("exists", `${kind} ${id.name} exists`);
    return this.#set(kind, id, value);
  }

  async update(kind: Kind, { id, revision, value }: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    await this.#before({ does: "update", kind }, signal);
    this.#mustHave(kind, id, { revision });
    return this.#set(kind, id, value);
  }

  async updateStatus(kind: Kind, object: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    await this.#before({ does: "update", kind }, signal);
    const { id, revision, value } = object;
    return this.#set(kind, id, withStatusOf(value, this.#mustHave(kind, id, { revision })));
  }

  async patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    await this.#before({ does: "patch", kind }, options.signal);
    return this.#set(kind, id, applyPatch(this.#mustHave(kind, id, options), patch));
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    await this.#before({ does: "delete", kind }, options.signal);
    this.#mustHave(kind, id, options);
    this.place(kind, id, { value: undefined, at: this.#revision + 1n });
  }

  place(kind: Kind, id: ObjectId, { value, at }: { value: unknown; at: bigint }): void {
    if (at <= this.#revision) throw new RangeError(`revision ${at} is not later than ${this.#revision}`);
    if (value !== undefined) this.#set(kind, id, value, at);
    else {
      this.#revision = at;
      this.#tableOf(kind).apply({ at, id, now: undefined });
      this.#wake(kind);
    }
  }

  peek(kind: Kind, id: ObjectId): StoredObject | undefined {
    return this.#tableOf(kind).get(id);
  }

  async put(kind: Kind, value: unknown, { id }: { id?: ObjectId } = {}): Promise<StoredObject> {
    return this.#set(kind, id ?? identify(kind, value), value);
  }

  revision(): Revision {
    return text(this.#revision);
  }

  compact(): void {
    this.#compacted = this.#revision;
    for (const table of this.#tables.values()) table.compact();
    this.#wakeAll();
  }

  endWatches(): void {
    this.#era += 1;
    this.#wakeAll();
  }

  setIntercept(intercept: MemoryDatastoreOptions["intercept"]): void {
    this.#intercept = intercept;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wakeAll();
  }

  async #before(step: MemoryStep, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new DatastoreError("unavailable", "the datastore is closed");
    await this.#intercept?.(step);
    signal?.throwIfAborted();
  }

  #tableOf(given: Kind): KindTable {
    const kind = storedKind(given, this.flavour);
    const { kubernetes, etcdKey, etcdPrefix = etcdKey } = kindInfo(kind);
    const isServed = this.flavour === "kubernetes" ? kubernetes !== undefined : etcdPrefix !== undefined;
    if (!isServed && this.holdsEveryKind !== true) throw neverHeld(given, this.flavour);
    const known = this.#tables.get(kind);
    if (known !== undefined) return known;
    const table = new KindTable(this.#mostChanges);
    this.#tables.set(kind, table);
    return table;
  }

  /** The stored value. */
  #mustHave(kind: Kind, id: ObjectId, { revision, uid }: Pick<DeleteOptions, "revision" | "uid">): JsonRecord {
    const found = this.#tableOf(kind).get(id);
    if (found === undefined) throw new DatastoreError("not-found", `${kind} ${id.name} does not exist`);
    if (revision !== undefined && found.revision !== revision) {
      throw new DatastoreError("conflict", `${kind} ${id.name} is at revision ${found.revision}, not ${revision}`);
    }
    if (uid !== undefined && metadataOf(found.value).uid !== uid) throw otherUid(kind, id, uid, found.value);
    return isRecord(found.value) ? found.value : {};
  }

  #set(kind: Kind, id: ObjectId, value: unknown, at = this.#revision + 1n): StoredObject {
    const table = this.#tableOf(kind);
    const stored = frozenCopy(this.#asStored(value, id, { stored: table.get(id)?.value, at }));
    this.#revision = at;
    const object: StoredObject = { id, revision: text(at), value: stored };
    table.apply({ at, id, now: object });
    this.#wake(kind);
    return object;
  }

  // As an API server does it: the uid and the creation time stay, the revision is written into the object. Values of etcd's
  // flavour that are no API objects (blocks, affinities) are left as they are.
  #asStored(value: unknown, id: ObjectId, { stored, at }: { stored: unknown; at: bigint }): unknown {
    if (!isRecord(value)) throw new DatastoreError("invalid", `${id.name}: the object is not a JSON object`);
    if (this.flavour === "etcdv3" && value.metadata === undefined) return value;
    const make = this.#makeMetadata;
    const full = make === undefined ? value : withUidAndCreationTime(value, { make, stored });
    const { resourceVersion: _, ...metadata } = metadataOf(full);
    const named = id.namespace === "" ? metadata : { ...metadata, namespace: id.namespace };
    const resourceVersion = text(at);
    return { ...value, metadata: this.flavour === "kubernetes" ? { ...named, resourceVersion } : named };
  }

  #wake(kind: Kind): void {
    for (const resume of this.#sleepers.get(storedKind(kind, this.flavour)) ?? []) resume();
  }

  #wakeAll(): void {
    for (const kind of this.#sleepers.keys()) this.#wake(kind);
  }

  /** Resolves when the kind changes, or something about all watches does, or the time is over; rejects on abort. */
  async #changed(given: Kind, limitMs: number, signal: AbortSignal): Promise<void> {
    const kind = storedKind(given, this.flavour);
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleepers = this.#sleepers.get(kind) ?? new Set();
    this.#sleepers.set(kind, sleepers.add(resolve));
    try {
      await settleWithin(promise, { clock: this.#clock, limitMs, signal });
    } finally {
      sleepers.delete(resolve);
    }
  }
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

// etcd v3 as a datastore: ranges read in pages at one revision, watches that resume after a revision, and writes that
// compare first. Keys and values are laid out as calicoctl and calico-ipam lay them out.
import { randomUUID } from "node:crypto";
import { type Clock, type Log, silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
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
import { deleteWithUid, patchByUpdate, updateStatusByUpdate } from "../emulate-writes.ts";
import { DatastoreError } from "../errors.ts";
import { metadataOf, otherUid } from "../object-id.ts";
import { type MakeMetadata, withUidAndCreationTime } from "../uid-and-creation-time.ts";
import { selectionOf } from "../within.ts";
import { type EtcdAuth, EtcdConnection } from "./connection.ts";
import type { EtcdTlsFiles } from "./credentials.ts";
import { endpointsOfDomain } from "./discovery.ts";
import { idToKey, keyRange } from "./keys.ts";
import { type Compare, methods, type RangeResponse, type RequestOp, type TxnResponse } from "./messages.ts";
import { nameOf, pairToObject, refusal, toWatchEvent } from "./objects.ts";
import { headerRevision, parseRevision, toRevision, wentBack } from "./revision.ts";
import { isTooLarge } from "./status.ts";
import { isApiObject, readObject, writeObject } from "./values.ts";
import { watchRange } from "./watch-range.ts";

export type EtcdOptions = {
  /** http://host:port or https://host:port. Tried in turn; the one that answers stays in use. */
  readonly endpoints: readonly string[];
  /** In their place: the domain whose SRV records name them. */
  readonly discoveryDomain?: string | undefined;
  readonly tls?: EtcdTlsFiles;
  readonly auth?: EtcdAuth;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly pageSize?: number;
  readonly requestTimeoutMs?: number;
  /** A watch that hears nothing for this long asks for progress; one that then hears nothing for as long again fails. */
  readonly watchSilenceMs?: number;
  /** gRPC pings. etcd refuses to be pinged more often than every 5 s. */
  readonly keepaliveIntervalMs?: number;
  readonly keepaliveTimeoutMs?: number;
  readonly maxMessageBytes?: number;
};

/** Connects when first asked for something. Throws for settings that can never work. */
export async function openEtcdDatastore(options: EtcdOptions): Promise<Datastore> {
  const { clock = systemClock, log = silentLog, pageSize = 500, watchSilenceMs = 30_000 } = options;
  const { discoveryDomain } = options;
  const connection = new EtcdConnection({
    endpoints: discoveryDomain === undefined ? options.endpoints : await endpointsOfDomain(discoveryDomain),
    tls: options.tls ?? {},
    auth: options.auth,
    clock,
    log,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    keepaliveIntervalMs: options.keepaliveIntervalMs ?? 10_000,
    keepaliveTimeoutMs: options.keepaliveTimeoutMs ?? 10_000,
    maxMessageBytes: options.maxMessageBytes ?? 32 << 20,
  });
  await connection.open();
  return new EtcdDatastore(connection, { clock, log, pageSize, watchSilenceMs });
}

type Limits = { readonly clock: Clock; readonly log: Log; readonly pageSize: number; readonly watchSilenceMs: number };

class EtcdDatastore implements Datastore {
  readonly flavour = "etcdv3";
  readonly #connection: EtcdConnection;
  readonly #limits: Limits;
  readonly #makeMetadata: MakeMetadata;

  constructor(connection: EtcdConnection, limits: Limits) {
    this.#connection = connection;
    this.#limits = limits;
    this.#makeMetadata = { makeUid: randomUUID, clock: limits.clock };
  }

  async *list(kind: Kind, { signal, notOlderThan, within }: ListOptions): AsyncGenerator<ListPage> {
    const { key, rangeEnd } = keyRange(kind, within);
    const selection = selectionOf(within);
    let limit = this.#limits.pageSize;
    let revision: Revision | undefined;
    for (let start = key; ; ) {
      const page = await this.#readPage(kind, { key: start, rangeEnd, limit, revision, signal });
      const { kvs, more, header } = page.response;
      limit = page.limit;
      revision ??= headerRevision(header);
      if (notOlderThan !== undefined && parseRevision(revision) < parseRevision(notOlderThan)) {
        throw wentBack(kind, notOlderThan);
      }
      const items = kvs.flatMap((pair) => pairToObject(kind, pair) ?? []);
      yield { items: items.filter((object) => selection.has(object)), revision };
      if (!more) return;
      const last = kvs.at(-1);
      if (last === undefined)
        throw new DatastoreError("invalid", `${kind}: etcd says there is more, and gives nothing`);
      start = Buffer.concat([last.key, Buffer.of(0)]); // the first key after it
    }
  }

  async *watch(kind: Kind, { from, signal, within }: WatchOptions): AsyncGenerator<WatchEvent[]> {
    const selection = selectionOf(within);
    const { clock, watchSilenceMs: silenceMs } = this.#limits;
    const doing = `etcd watch of ${kind}`;
    let at = parseRevision(from);
    let progress = at;
    const withBefore = within?.labels !== undefined;
    const range = { range: keyRange(kind, within), startRevision: at + 1n, withBefore };
    for await (const item of watchRange(this.#connection, { ...range, doing, clock, silenceMs, signal })) {
      if (item.is === "created") {
        // The member may only lag behind. A whole cluster that is behind us would let us wait in silence until it
        // reaches our revision by other changes.
        if (item.revision < at && (await this.#currentRevision(kind, signal)) < at) throw wentBack(kind, from);
      } else if (item.is === "progress") {
        // Members before 3.4.25 and 3.5.8 may report progress just ahead of events still to come (etcd issue 15220), so
        // what is passed on is the progress before this one.
        if (progress > at) at = progress;
        progress = item.revision;
        yield [{ is: "bookmark", revision: toRevision(at) }];
      } else {
        at = BigInt(item.events.at(-1)?.kv.modRevision ?? at);
        const events = item.events.flatMap((event) => toWatchEvent(kind, selection, event) ?? []);
        if (events.length > 0) yield events;
      }
    }
  }

  async get(kind: Kind, id: ObjectId, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const request = { key: Buffer.from(idToKey(kind, id)) };
    const call = { doing: `etcd read of ${kind} ${id.name}`, signal, isRead: true };
    const { kvs } = await this.#connection.call(methods.range, request, call);
    const [pair] = kvs;
    const object = pair === undefined ? undefined : pairToObject(kind, pair);
    if (pair === undefined || object === undefined || isApiObject(kind)) return object;
    return { ...object, made: pair.createRevision };
  }

  async create(kind: Kind, value: unknown, options: CreateOptions = {}): Promise<StoredObject> {
    const id = options.id ?? nameOf(kind, value);
    const key = Buffer.from(idToKey(kind, id));
    const full = isApiObject(kind) ? withUidAndCreationTime(value, { make: this.#makeMetadata }) : value;
    const bytes = writeObject(kind, full, id);
    const compare: Compare = { target: "MOD", result: "EQUAL", key, modRevision: "0" };
    const response = await this.#write(kind, id, {
      compare,
      success: { requestPut: { key, value: bytes } },
      ...options,
    });
    if (!response.succeeded) throw new DatastoreError("exists", `${kind} ${id.name} exists`);
    return readObject(id, headerRevision(response.header), bytes);
  }

  async update(kind: Kind, { id, revision, value }: StoredObject, options: CallOptions = {}): Promise<StoredObject> {
    const key = Buffer.from(idToKey(kind, id));
    const compare: Compare = { target: "MOD", result: "EQUAL", key, modRevision: `${parseRevision(revision)}` };
    const bytes = writeObject(kind, await this.#whole(kind, { id, revision, value }, options), id);
    const response = await this.#write(kind, id, {
      compare,
      success: { requestPut: { key, value: bytes } },
      ...options,
    });
    if (!response.succeeded) throw refusal(kind, id, response);
    return readObject(id, headerRevision(response.header), bytes);
  }

  updateStatus(kind: Kind, object: StoredObject, options: CallOptions = {}): Promise<StoredObject> {
    return updateStatusByUpdate(this, kind, object, options);
  }

  patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    return patchByUpdate(this, kind, id, { ...options, patch });
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    const { revision, uid } = options;
    if (uid !== undefined && revision === undefined) return await deleteWithUid(this, kind, id, { ...options, uid });
    if (uid !== undefined) await this.#mustHaveUid(kind, id, uid, options);
    const key = Buffer.from(idToKey(kind, id));
    const compare: Compare =
      revision === undefined
        ? { target: "VERSION", result: "GREATER", key, version: "0" }
        : { target: "MOD", result: "EQUAL", key, modRevision: `${parseRevision(revision)}` };
    const response = await this.#write(kind, id, { compare, success: { requestDeleteRange: { key } }, ...options });
    if (!response.succeeded) throw refusal(kind, id, response);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }

  // A page that is too large for one message is asked for again in halves, down to single objects.
  async #readPage(
    kind: Kind,
    page: { key: Buffer; rangeEnd: Buffer; limit: number; revision: Revision | undefined; signal: AbortSignal },
  ): Promise<{ response: RangeResponse; limit: number }> {
    const { key, rangeEnd, revision, signal } = page;
    const call = { doing: `etcd list of ${kind}`, signal, isRead: true };
    for (let limit = page.limit; ; limit = Math.ceil(limit / 2)) {
      const request = { key, rangeEnd, limit, ...(revision === undefined ? {} : { revision }) };
      try {
        return { response: await this.#connection.call(methods.range, request, call), limit };
      } catch (error) {
        if (limit === 1 || !isTooLarge(error)) throw error;
        this.#limits.log.debug("etcd page too large, asking for less", { kind, limit });
      }
    }
  }

  /** A value that lost its uid or its creation time on the way gets back those that are stored. */
  async #whole(kind: Kind, { id, value }: StoredObject, options: CallOptions): Promise<unknown> {
    const { uid, creationTimestamp } = metadataOf(value);
    if (!isApiObject(kind) || (uid !== undefined && creationTimestamp !== undefined)) return value;
    const stored = (await this.get(kind, id, options))?.value;
    return withUidAndCreationTime(value, { make: this.#makeMetadata, stored });
  }

  async #mustHaveUid(kind: Kind, id: ObjectId, uid: string, options: CallOptions): Promise<void> {
    const stored = await this.get(kind, id, options);
    if (stored !== undefined && metadataOf(stored.value).uid !== uid) throw otherUid(kind, id, uid, stored.value);
  }

  async #currentRevision(kind: Kind, signal: AbortSignal): Promise<bigint> {
    const call = { doing: `etcd revision for ${kind}`, signal, isRead: true };
    const { header } = await this.#connection.call(methods.range, { ...keyRange(kind), countOnly: true }, call);
    return parseRevision(headerRevision(header));
  }

  /** Does it if the compare holds; answers what is stored if it does not. */
  #write(kind: Kind, id: ObjectId, what: CallOptions & { compare: Compare; success: RequestOp }): Promise<TxnResponse> {
    const { compare, success, signal } = what;
    const request = { compare: [compare], success: [success], failure: [{ requestRange: { key: compare.key } }] };
    return this.#connection.call(methods.txn, request, {
      doing: `etcd write of ${kind} ${id.name}`,
      signal,
      isRead: false,
    });
  }
}

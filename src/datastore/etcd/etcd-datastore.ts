// etcd v3 as a datastore: ranges read in pages at one revision, watches that resume after a revision, and writes that
// compare first. Keys and values are laid out as calicoctl and calico-ipam lay them out.
import { randomUUID } from "node:crypto";
import { type Clock, type Log, silentLog, systemClock } from "../../lib/index.ts";
import { type Kind, kindInfo } from "../../model/index.ts";
import { withBirth } from "../birth.ts";
import type { Datastore, ListPage, ObjectId, Revision, StoredObject, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify, metadataOf } from "../identify.ts";
import { type EtcdAuth, EtcdConnection } from "./connection.ts";
import type { EtcdTlsFiles } from "./credentials.ts";
import { blockId, idToKey, keyRange, keyToId } from "./keys.ts";
import {
  type Compare,
  type Header,
  type KeyValue,
  methods,
  type RangeResponse,
  type RequestOp,
  type TxnResponse,
} from "./messages.ts";
import { isServiceError } from "./status.ts";
import { isApiObject, readObject, writeObject } from "./values.ts";
import { watchRange } from "./watch-range.ts";

export type EtcdOptions = {
  /** http://host:port or https://host:port. Tried in turn; the one that answers stays in use. */
  readonly endpoints: readonly string[];
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

const maxRevision = 2n ** 63n - 2n; // etcd counts in signed 64 bits, and a watch starts one later
const grpcResourceExhausted = 8;

/** Connects when first asked for something. Throws for settings that can never work. */
export async function openEtcdDatastore(options: EtcdOptions): Promise<Datastore> {
  const { clock = systemClock, log = silentLog, pageSize = 500, watchSilenceMs = 30_000 } = options;
  const connection = new EtcdConnection({
    endpoints: options.endpoints,
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
  const birth = { makeUid: randomUUID, clock };

  return {
    flavour: "etcdv3",
    async *list(kind, { signal, notOlderThan }) {
      const { key, rangeEnd } = keyRange(kind);
      let limit = pageSize;
      let revision: string | undefined;
      for (let start = key; ; ) {
        const page = await readPage(kind, { key: start, rangeEnd, limit, revision, signal });
        limit = page.limit;
        revision ??= revisionOf(page.response.header);
        if (notOlderThan !== undefined && BigInt(revision) < parse(notOlderThan)) throw wentBack(kind, notOlderThan);
        const items = page.response.kvs.flatMap((pair) => toObject(kind, pair) ?? []);
        yield { items, revision: revision as Revision } satisfies ListPage; // branded here, taken off in parse()
        if (!page.response.more) return;
        const last = page.response.kvs.at(-1);
        if (last === undefined)
          throw new DatastoreError("invalid", `${kind}: etcd says there is more, and gives nothing`);
        start = Buffer.concat([last.key, Buffer.of(0)]); // the first key after it
      }
    },
    async *watch(kind, { from, signal }) {
      const doing = `etcd watch of ${kind}`;
      const range = keyRange(kind);
      let at = parse(from);
      let progress = at;
      const silenceMs = watchSilenceMs;
      for await (const item of watchRange(connection, {
        range,
        startRevision: at + 1n,
        doing,
        clock,
        silenceMs,
        signal,
      })) {
        if (item.is === "created") {
          // The member may only lag behind. If the whole cluster is behind us it was restored from a backup, and would
          // let us wait in silence until it reaches our revision by other changes.
          if (item.revision < at && (await currentRevision(kind, signal)) < at) throw wentBack(kind, from);
        } else if (item.is === "progress") {
          // Members before 3.5.8 may report progress just ahead of events still to come (etcd issue 15220), so what is
          // passed on is the progress before this one.
          if (progress > at) at = progress;
          progress = item.revision;
          yield { is: "bookmark", revision: text(at) };
        } else {
          for (const { type, kv } of item.events) {
            at = BigInt(kv.modRevision);
            const id = keyToId(kind, kv.key.toString());
            if (id !== undefined) yield toEvent(type, id, kv);
          }
        }
      }
    },
    async get(kind, id, { signal } = {}) {
      return find(kind, id, signal);
    },
    async create(kind, value, { id, signal } = {}) {
      const named = id ?? nameOf(kind, value);
      const key = Buffer.from(idToKey(kind, named));
      const born = isApiObject(kind) ? withBirth(value, { birth }) : value;
      const { response, revision } = await write(kind, named, {
        compare: { target: "VERSION", result: "EQUAL", key, version: "0" },
        success: { requestPut: { key, value: writeObject(kind, born, named) } },
        signal,
      });
      if (!response.succeeded) throw new DatastoreError("exists", `${kind} ${named.name} exists`);
      return readObject(named, revision, writeObject(kind, born, named));
    },
    async update(kind, object, { signal } = {}) {
      const key = Buffer.from(idToKey(kind, object.id));
      const { uid, creationTimestamp } = metadataOf(object.value);
      const isWhole = !isApiObject(kind) || (uid !== undefined && creationTimestamp !== undefined);
      const stored = isWhole ? undefined : await find(kind, object.id, signal);
      const value = writeObject(
        kind,
        isWhole ? object.value : withBirth(object.value, { birth, stored: stored?.value }),
        object.id,
      );
      const { response, revision } = await write(kind, object.id, {
        compare: { target: "MOD", result: "EQUAL", key, modRevision: String(parse(object.revision)) },
        success: { requestPut: { key, value } },
        signal,
      });
      if (!response.succeeded) throw refused(kind, object.id, response);
      return readObject(object.id, revision, value);
    },
    async delete(kind, id, { revision, signal } = {}) {
      const key = Buffer.from(idToKey(kind, id));
      const compare: Compare =
        revision === undefined
          ? { target: "VERSION", result: "GREATER", key, version: "0" }
          : { target: "MOD", result: "EQUAL", key, modRevision: String(parse(revision)) };
      const { response } = await write(kind, id, { compare, success: { requestDeleteRange: { key } }, signal });
      if (!response.succeeded) throw refused(kind, id, response);
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };

  // A page that is too large for one message is asked for again in halves, down to single objects.
  async function readPage(
    kind: Kind,
    page: { key: Buffer; rangeEnd: Buffer; limit: number; revision: string | undefined; signal: AbortSignal },
  ): Promise<{ response: RangeResponse; limit: number }> {
    const { key, rangeEnd, revision, signal } = page;
    for (let limit = page.limit; ; limit = Math.ceil(limit / 2)) {
      const request = { key, rangeEnd, limit, ...(revision === undefined ? {} : { revision }) };
      try {
        const response = await connection.call(methods.range, request, {
          doing: `etcd list of ${kind}`,
          signal,
          isRead: true,
        });
        return { response, limit };
      } catch (error) {
        if (limit === 1 || !isTooLarge(error)) throw error;
        log.debug("etcd page too large, asking for less", { kind, limit });
      }
    }
  }

  async function currentRevision(kind: Kind, signal: AbortSignal): Promise<bigint> {
    const options_ = { doing: `etcd revision for ${kind}`, signal, isRead: true };
    const { header } = await connection.call(methods.range, { ...keyRange(kind), countOnly: true }, options_);
    return BigInt(revisionOf(header));
  }

  async function find(kind: Kind, id: ObjectId, signal: AbortSignal | undefined): Promise<StoredObject | undefined> {
    const request = { key: Buffer.from(idToKey(kind, id)) };
    const options_ = { doing: `etcd read of ${kind} ${id.name}`, signal, isRead: true };
    const { kvs } = await connection.call(methods.range, request, options_);
    return kvs[0] === undefined ? undefined : toObject(kind, kvs[0]);
  }

  async function write(
    kind: Kind,
    id: ObjectId,
    what: { compare: Compare; success: RequestOp; signal: AbortSignal | undefined },
  ): Promise<{ response: TxnResponse; revision: Revision }> {
    const request = {
      compare: [what.compare],
      success: [what.success],
      failure: [{ requestRange: { key: what.compare.key } }],
    };
    const options_ = { doing: `etcd write of ${kind} ${id.name}`, signal: what.signal, isRead: false };
    const response = await connection.call(methods.txn, request, options_);
    return { response, revision: revisionOf(response.header) as Revision };
  }
}

function nameOf(kind: Kind, value: unknown): ObjectId {
  if (isApiObject(kind)) return identify(kind, value);
  const id = kind === "IPAMBlock" ? blockId(value) : undefined;
  if (id !== undefined) return id;
  throw new DatastoreError("invalid", `${kind}: the value does not say its own name; give the id`);
}

function toObject(kind: Kind, { key, value, modRevision }: KeyValue): StoredObject | undefined {
  const id = keyToId(kind, key.toString());
  return id === undefined ? undefined : readObject(id, modRevision as Revision, value);
}

// A deletion's revision is its own, not that of the value it ended: a watch that resumes there never goes back.
function toEvent(type: "PUT" | "DELETE", id: ObjectId, { value, modRevision }: KeyValue): WatchEvent {
  if (type === "DELETE") return { is: "delete", id, revision: modRevision as Revision };
  return { is: "set", object: readObject(id, modRevision as Revision, value) };
}

function refused(kind: Kind, id: ObjectId, { responses }: TxnResponse): DatastoreError {
  const found = responses[0]?.responseRange?.kvs[0];
  const name = kindInfo(kind).namespaced ? `${id.namespace}/${id.name}` : id.name;
  if (found === undefined) return new DatastoreError("not-found", `${kind} ${name} does not exist`);
  return new DatastoreError("conflict", `${kind} ${name} is at revision ${found.modRevision}`);
}

// protobuf lets every field be absent, whatever the sender's intentions.
function revisionOf(header: Header | null): string {
  if (header === null) throw new DatastoreError("invalid", "etcd's answer has no header");
  return header.revision;
}

function isTooLarge(error: unknown): boolean {
  const cause = error instanceof DatastoreError ? error.cause : error;
  return isServiceError(cause) && cause.code === grpcResourceExhausted && /larger than max/.test(cause.details);
}

function wentBack(kind: Kind, revision: Revision): DatastoreError {
  return new DatastoreError(
    "too-large-revision",
    `${kind}: etcd has not reached revision ${revision}; was it restored?`,
  );
}

function text(revision: bigint): Revision {
  return String(revision) as Revision; // the brand is given here and taken off in parse(), nowhere else
}

function parse(revision: Revision): bigint {
  const value = /^\d{1,19}$/.test(revision) ? BigInt(revision) : -1n;
  if (value < 0n || value > maxRevision) {
    throw new DatastoreError("invalid", `revision "${revision.slice(0, 40)}" was not made by etcd`);
  }
  return value;
}

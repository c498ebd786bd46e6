// Reads a running server for those who look at it: the debug pages and the dashboard. It sees the syncers' batches go by
// (and remembers the last of them) only where one of the two is switched on; everything else is asked for when asked.
//
//   syncers ──batches──▶ tap ──▶ server            received │ cached │ written: the three times of a trace
//                         └─▶ journal, timeline

import type { Clock } from "../../../base/lib/index.ts";
import {
  keyKind,
  placesOfKeyKind,
  type SyncerBatch,
  type SyncerType,
  syncerTypes,
  unescapeName,
} from "../../../calico/model/index.ts";
import type { CacheReader, KeyInfo, Position } from "../../cache/index.ts";
import { ageOfView, isBehind } from "../../dashboard/index.ts";
import type { ClientReport, WriteRecord } from "../../fanout/index.ts";
import { readPiece } from "../../wire/index.ts";
import type { Server } from "../serve.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import { Timeline } from "./timeline.ts";

export type KeyQuery = {
  readonly syncer: SyncerType;
  readonly prefix?: string;
  /** Anywhere in the path, in any case. */
  readonly search?: string;
  readonly kind?: string;
  readonly offset: number;
  readonly limit: number;
};

export type KeyFacts = {
  readonly path: string;
  readonly kind: string;
  readonly bytes: number;
  readonly revision: string;
  /** Null: before this server began to take notes. */
  readonly changedAtMs: number | null;
};

/** How far the last change of a key has travelled. A time is null where it has not happened, or is no longer known. */
export type KeyTrace = {
  readonly receivedAtMs: number | null;
  readonly cachedAtMs: number | null;
  readonly firstWriteAtMs: number | null;
  readonly lastWriteAtMs: number | null;
  /** Clients that have been sent it, in whichever way, and those that have not. */
  readonly clients: number;
  readonly clientsBehind: number;
  /** The furthest behind of those that have not. */
  readonly slowestClient: string | null;
};

export type KeyDetail = KeyFacts & {
  readonly syncer: SyncerType;
  readonly value: string | null;
  readonly history: readonly JournalEntry[];
  readonly trace: KeyTrace;
};

export type NodeFacts = {
  readonly node: string;
  /** The datastore has it. */
  readonly isExpected: boolean;
  readonly clients: readonly ClientReport[];
};

/** What clients reported, and when. */
export type KnownClients = { readonly reports: readonly ClientReport[]; readonly atMs: number };

export type KindFacts = { readonly kind: string; readonly keys: number; readonly bytes: number };

/** A change this old had reached every client that keeps up when they were asked. */
const settledMs = 1000;
const nodesPrefix = "/calico/resources/v3/projectcalico.org/nodes/";

export class Introspection {
  readonly #clock: Clock;
  readonly #isRecording: boolean;
  #server: Server | undefined;
  readonly #journals = new Map(syncerTypes.map((syncer) => [syncer, new Journal()]));
  readonly #timelines = new Map(syncerTypes.map((syncer) => [syncer, new Timeline()]));
  #updates = 0;

  constructor(options: { clock: Clock; isRecording: boolean }) {
    this.#clock = options.clock;
    this.#isRecording = options.isRecording;
  }

  /** The server that the tapped batches go to; to be called as soon as there is one. */
  attach(server: Server): void {
    this.#server = server;
  }

  /** Updates taken from the syncers since the start. */
  get updates(): number {
    return this.#updates;
  }

  /** The same batches, noted as they go by; where nobody is to look, the very same. */
  tap(batches: AsyncIterable<SyncerBatch>): AsyncIterable<SyncerBatch> {
    return this.#isRecording ? this.#noted(batches) : batches;
  }

  async *#noted(batches: AsyncIterable<SyncerBatch>): AsyncGenerator<SyncerBatch> {
    for await (const batch of batches) {
      const receivedAtMs = this.#clock.wallMs();
      const before = this.#cache(batch.syncer)?.head ?? 0;
      yield batch;
      // The server asks for the next batch once it has applied this one.
      this.#record(batch, before, receivedAtMs);
    }
  }

  keys({ syncer, prefix = "", search = "", kind = "", offset, limit }: KeyQuery): { total: number; rows: KeyFacts[] } {
    const cache = this.#cache(syncer);
    if (cache === undefined) return { total: 0, rows: [] };
    const places = prefix === "" ? placesOfKeyKind(kind) : [prefix];
    const range = places.flatMap((place) => withPrefix(cache.keys(), place));
    // A pattern that ignores case is faster than making every path lower case.
    const wanted = search === "" ? undefined : new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "i");
    const isAsked = ({ path }: KeyInfo) =>
      (wanted === undefined || wanted.test(path)) && (kind === "" || keyKind(path) === kind);
    const found = wanted === undefined && kind === "" ? range : range.filter(isAsked);
    const rows = found.slice(offset, offset + limit).map((key) => this.#facts(syncer, cache, key));
    return { total: found.length, rows };
  }

  /**
   * Undefined: there is no such key, nor has there been one lately. Where the clients were asked about a moment ago, that
   * may be handed over; it is used for a key that has not changed since.
   */
  async key(syncer: SyncerType, path: string, known?: KnownClients): Promise<KeyDetail | undefined> {
    const cache = this.#cache(syncer);
    const key = cache?.find(path);
    const history = this.#journals.get(syncer)?.of(path) ?? [];
    if (cache === undefined || key === undefined) return this.#gone(syncer, history);
    const { value } = readPiece(cache.pieceOf(key));
    const facts = this.#facts(syncer, cache, key); // before anything else can move the key
    const { position, isLive } = key;
    const trace = await this.#trace(syncer, position, { history, known });
    return { ...facts, syncer, value: isLive ? (value ?? "") : null, history, trace };
  }

  /** The value as it is served; undefined where there is none. */
  value(syncer: SyncerType, path: string): string | undefined {
    const cache = this.#cache(syncer);
    const key = cache?.find(path);
    return cache === undefined || key?.isLive !== true ? undefined : (readPiece(cache.pieceOf(key)).value ?? "");
  }

  *valuesWithPrefix(syncer: SyncerType, prefix: string): Iterable<{ path: string; value: string }> {
    const cache = this.#cache(syncer);
    if (cache === undefined) return;
    for (const key of withPrefix(cache.keys(), prefix)) {
      yield { path: key.path, value: readPiece(cache.pieceOf(key)).value ?? "" };
    }
  }

  *pathsWithPrefix(syncer: SyncerType, prefix: string): Iterable<string> {
    for (const { path } of withPrefix(this.#cache(syncer)?.keys() ?? [], prefix)) yield path;
  }

  /** Most keys first. Looks at every key: to be asked now and then. */
  kinds(syncer: SyncerType): KindFacts[] {
    const counts = new Map<string, { kind: string; keys: number; bytes: number }>();
    for (const key of this.#cache(syncer)?.keys() ?? []) {
      const kind = keyKind(key.path);
      const known = counts.get(kind) ?? { kind, keys: 0, bytes: 0 };
      known.keys += 1;
      known.bytes += sizeOf(key);
      counts.set(kind, known);
    }
    return [...counts.values()].sort((left, right) => right.keys - left.keys);
  }

  /** Every node that the datastore has or that is connected, with what it is connected by. */
  nodesOf(clients: readonly ClientReport[]): NodeFacts[] {
    const byNode = new Map<string, ClientReport[]>();
    for (const client of clients) {
      if (client.syncer === undefined) continue; // no hello yet, so no name
      const known = byNode.get(client.node);
      if (known === undefined) byNode.set(client.node, [client]);
      else known.push(client);
    }
    const expected = withPrefix(this.#cache("felix")?.keys() ?? [], nodesPrefix).map(({ path }) =>
      unescapeName(path.slice(nodesPrefix.length)),
    );
    const known = new Set(expected);
    return [
      ...expected.map((node) => ({ node, isExpected: true, clients: byNode.get(node) ?? [] })),
      ...[...byNode]
        .filter(([node]) => !known.has(node))
        .map(([node, its]) => ({ node, isExpected: false, clients: its })),
    ];
  }

  /** How long each change after these positions took from the syncer to the clients, weighted by clients. */
  async deliveries(since: Map<SyncerType, Position>): Promise<{ ms: number; clients: number }[]> {
    const found: { ms: number; clients: number }[] = [];
    for (const syncer of syncerTypes) {
      for (const { from, to, firstAtMs, lastAtMs, clients } of await this.#writesSince(
        syncer,
        since.get(syncer) ?? 0,
      )) {
        since.set(syncer, Math.max(to, since.get(syncer) ?? 0));
        const receivedAtMs = this.#timelines.get(syncer)?.timeOf(from + 1);
        if (clients === 0 || receivedAtMs === undefined) continue;
        // The clients of one flush are written to one after the other.
        found.push({ ms: Math.max(0, firstAtMs - receivedAtMs), clients: clients / 2 });
        found.push({ ms: Math.max(0, lastAtMs - receivedAtMs), clients: clients / 2 });
      }
    }
    return found;
  }

  #cache(syncer: SyncerType): CacheReader | undefined {
    return this.#server?.cache(syncer);
  }

  #writesSince(syncer: SyncerType, position: Position): Promise<readonly WriteRecord[]> {
    return this.#server?.writesSince(syncer, position) ?? Promise.resolve([]);
  }

  #record({ syncer, updates }: SyncerBatch, before: Position, receivedAtMs: number): void {
    const cache = this.#cache(syncer);
    if (cache === undefined || updates.length === 0) return;
    this.#updates += updates.length;
    const cachedAtMs = this.#clock.wallMs();
    this.#timelines.get(syncer)?.note(cache.head, receivedAtMs);
    const journal = this.#journals.get(syncer);
    for (const update of updates) {
      const position = cache.find(update.path)?.position ?? 0;
      if (position > before) journal?.add(update, { position, receivedAtMs, cachedAtMs });
    }
  }

  #facts(syncer: SyncerType, cache: CacheReader, key: KeyInfo): KeyFacts {
    const { revision } = readPiece(cache.pieceOf(key));
    const changedAtMs = this.#timelines.get(syncer)?.timeOf(key.position) ?? null;
    return { path: key.path, kind: keyKind(key.path), bytes: sizeOf(key), revision, changedAtMs };
  }

  /** A deletion is forgotten once every client has it. */
  async #gone(syncer: SyncerType, history: readonly JournalEntry[]): Promise<KeyDetail | undefined> {
    const [last] = history;
    if (last === undefined) return undefined;
    const { path, receivedAtMs: changedAtMs } = last;
    const trace = await this.#trace(syncer, last.position, { history });
    return { path, kind: keyKind(path), bytes: 0, revision: "", changedAtMs, syncer, value: null, history, trace };
  }

  async #trace(
    syncer: SyncerType,
    position: Position,
    { history, known }: { history: readonly JournalEntry[]; known?: KnownClients | undefined },
  ): Promise<KeyTrace> {
    const noted = history.find((entry) => entry.position === position);
    const changedAtMs = this.#timelines.get(syncer)?.timeOf(position) ?? null;
    const [writes, clients = []] = await Promise.all([
      this.#writesSince(syncer, position - 1),
      known !== undefined && (changedAtMs ?? 0) + settledMs < known.atMs ? known.reports : this.#server?.clients(),
    ]);
    const own = writes.filter((write) => write.from < position && position <= write.to && write.clients > 0);
    const firstWriteAtMs = own.length === 0 ? null : Math.min(...own.map((write) => write.firstAtMs));
    const cachedAtMs = noted?.cachedAtMs ?? changedAtMs;
    const served = clients.filter((client) => client.syncer === syncer);
    // Sent is not read: a client that is behind sees the world of some time ago, whatever the network has taken.
    const nowMs = this.#clock.wallMs();
    const hasRead = (client: ClientReport) => {
      const late = { lagMs: client.lagMs, answersAfterMs: client.pingMs ?? null };
      return !isBehind(late) || (changedAtMs !== null && changedAtMs < nowMs - ageOfView(late));
    };
    const behind = served.filter((client) => client.position < position || !hasRead(client));
    const slowest = behind.toSorted(
      (left, right) => left.position - right.position || (right.pingMs ?? 0) - (left.pingMs ?? 0),
    )[0];
    return {
      receivedAtMs: noted?.receivedAtMs ?? changedAtMs,
      // Without worker threads the first clients are written to before the batch counts as applied.
      cachedAtMs: cachedAtMs === null || firstWriteAtMs === null ? cachedAtMs : Math.min(cachedAtMs, firstWriteAtMs),
      firstWriteAtMs,
      lastWriteAtMs: own.length === 0 ? null : Math.max(...own.map((write) => write.lastAtMs)),
      clients: served.length - behind.length,
      clientsBehind: behind.length,
      slowestClient: slowest === undefined ? null : `${slowest.node} (${slowest.address})`,
    };
  }
}

function sizeOf({ piece }: KeyInfo): number {
  return piece.end - piece.start;
}

/** The keys are in order, so those with a prefix stand together. */
function withPrefix(keys: readonly KeyInfo[], prefix: string): readonly KeyInfo[] {
  if (prefix === "") return keys;
  // The first text that is above all that begin with the prefix.
  const above = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return keys.slice(firstNotBelow(keys, prefix), firstNotBelow(keys, above));
}

function firstNotBelow(keys: readonly KeyInfo[], path: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle]?.path ?? "") < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

// What one flush of a publisher says, as bytes per variant, and the last few of them. A client that is a moment late is
// sent these again as they are; one that is later gets its backlog merged by the cache.

import type { SyncStatus } from "../../../calico/model/basics.ts";
import type { Position, Variant } from "../../cache/index.ts";

/** Plain data: this is also the message to worker threads, whose bytes are shared memory. */
export type Flush = {
  /** The original calls what is published at once a breadcrumb, and numbers them. */
  readonly sequence: number;
  readonly from: Position;
  readonly to: Position;
  readonly updates: number;
  /** Updates in each of its messages; none where no variant is in use. */
  readonly messages: readonly number[];
  /** Holds once `to` is reached. */
  readonly status: SyncStatus;
  /** By the clock of the thread that made it; compared only with other flushes. */
  readonly atMs: number;
  /** Only the variants that were in use. */
  readonly bytes: ReadonlyMap<Variant, Uint8Array>;
};

/** Flushes one after the other, for a client that has had none of them. */
export type RecentRun = {
  readonly from: Position;
  readonly to: Position;
  readonly flushes: number;
  /** Updates in each message. */
  readonly messages: readonly number[];
  readonly status: SyncStatus;
  readonly parts: readonly Uint8Array[];
};

const mostRecent = 16;
const mostRecentBytes = 2 * 1024 * 1024;
/** Runs up to this size are joined, because one write costs less than several. Longer ones stay references to shared bytes. */
const mostJoinedBytes = 16 * 1024;

export class RecentFlushes {
  readonly #flushes: Flush[] = [];
  #bytes = 0;
  /** The last one of each variant: clients whose turns follow one another lack the same. */
  readonly #runs = new Map<Variant, RecentRun>();

  add(flush: Flush): void {
    this.#runs.clear();
    this.#flushes.push(flush);
    this.#bytes += sizeOf(flush);
    while (this.#flushes.length > mostRecent || (this.#bytes > mostRecentBytes && this.#flushes.length > 1)) {
      const dropped = this.#flushes.shift();
      if (dropped !== undefined) this.#bytes -= sizeOf(dropped);
    }
  }

  /**
   * What takes a reader on from its position. The first flush may begin before that (a snapshot can be newer than the
   * last flush): its values are those of its end, so nothing goes back in time.
   */
  after(position: Position, variant: Variant): RecentRun | undefined {
    const known = this.#runs.get(variant);
    if (known?.from === position) return known;
    const first = this.#flushes.findLastIndex(({ from, to }) => from <= position && to > position);
    if (first < 0) return undefined;
    const flushes: Flush[] = [];
    const parts: Uint8Array[] = [];
    for (const flush of this.#flushes.slice(first)) {
      const bytes = flush.bytes.get(variant);
      if (bytes === undefined) break;
      flushes.push(flush);
      if (bytes.length > 0) parts.push(bytes);
    }
    const last = flushes.at(-1);
    if (last === undefined) return undefined;
    const run: RecentRun = {
      from: position,
      to: last.to,
      flushes: flushes.length,
      messages: flushes.flatMap(({ messages }) => messages),
      status: last.status,
      parts: joined(parts),
    };
    this.#runs.set(variant, run);
    return run;
  }
}

function joined(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const bytes = parts.reduce((total, { length }) => total + length, 0);
  if (parts.length < 2 || bytes > mostJoinedBytes) return parts;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return [whole];
}

function sizeOf(flush: Flush): number {
  let size = 0;
  for (const bytes of flush.bytes.values()) size += bytes.length;
  return size;
}

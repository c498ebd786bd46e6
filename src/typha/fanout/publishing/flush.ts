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

const mostRecent = 16;
const mostRecentBytes = 2 * 1024 * 1024;

export class RecentFlushes {
  #flushes: Flush[] = [];
  #bytes = 0;

  add(flush: Flush): void {
    this.#flushes.push(flush);
    this.#bytes += sizeOf(flush);
    while (this.#flushes.length > mostRecent || (this.#bytes > mostRecentBytes && this.#flushes.length > 1)) {
      const dropped = this.#flushes.shift();
      if (dropped !== undefined) this.#bytes -= sizeOf(dropped);
    }
  }

  /**
   * The flush that takes a reader on from its position. It may begin before that (a snapshot can be newer than the last
   * flush): its values are those of its end, so nothing goes back in time.
   */
  after(position: Position, variant: Variant): { flush: Flush; bytes: Uint8Array } | undefined {
    for (let index = this.#flushes.length - 1; index >= 0; index -= 1) {
      const flush = this.#flushes[index];
      if (flush === undefined || flush.to <= position) return undefined;
      if (flush.from > position) continue;
      const bytes = flush.bytes.get(variant);
      return bytes === undefined ? undefined : { flush, bytes };
    }
    return undefined;
  }
}

function sizeOf(flush: Flush): number {
  let size = 0;
  for (const bytes of flush.bytes.values()) size += bytes.length;
  return size;
}

// When the last changes were written to clients: one record per flush and thread, in a ring. For the trace of a key and
// for the plot of delivery times; costs two readings of the clock each time some clients have had their turns, however many they are.
import type { Position } from "../../cache/index.ts";

/** About ten seconds of a busy server. The oldest record makes room for the next. */
const capacity = 1024;
const fields = 5;

/** Changes after `from` up to `to`, as this thread wrote them to its clients. Times are wall-clock milliseconds. */
export type WriteRecord = {
  readonly from: Position;
  readonly to: Position;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly clients: number;
};

export class WriteLog {
  readonly #ring = new Float64Array(capacity * fields);
  #count = 0;

  note(record: WriteRecord): void {
    const at = (this.#count % capacity) * fields;
    this.#ring[at] = record.from;
    this.#ring[at + 1] = record.to;
    this.#ring[at + 2] = record.firstAtMs;
    this.#ring[at + 3] = record.lastAtMs;
    this.#ring[at + 4] = record.clients;
    this.#count += 1;
  }

  /** So many clients have been written everything after `from` up to `to`, between the two times. */
  noteWritten({ from, to, firstAtMs, lastAtMs, clients }: WriteRecord): void {
    if (clients === 0) return;
    for (const at of this.#newestFirst()) {
      if (this.#at(at, 1) <= from) return;
      if (this.#at(at, 1) > to) continue;
      if (this.#at(at, 4) === 0) this.#ring[at + 2] = firstAtMs;
      this.#ring[at + 3] = lastAtMs;
      this.#ring[at + 4] = this.#at(at, 4) + clients;
    }
  }

  /** Records that reach beyond the position, oldest first. */
  since(position: Position): WriteRecord[] {
    const records: WriteRecord[] = [];
    for (const at of this.#newestFirst()) {
      if (this.#at(at, 1) <= position) break;
      records.push({
        from: this.#at(at, 0),
        to: this.#at(at, 1),
        firstAtMs: this.#at(at, 2),
        lastAtMs: this.#at(at, 3),
        clients: this.#at(at, 4),
      });
    }
    return records.reverse();
  }

  *#newestFirst(): Iterable<number> {
    const oldest = Math.max(0, this.#count - capacity);
    for (let number = this.#count - 1; number >= oldest; number -= 1) yield (number % capacity) * fields;
  }

  #at(record: number, field: number): number {
    return this.#ring[record + field] ?? 0;
  }
}

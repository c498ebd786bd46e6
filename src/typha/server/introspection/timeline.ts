// When each change was taken in: positions of a change log against the clock. Bounded: as it fills up, the older half is
// thinned out, so that what is recent is exact to the millisecond and what is old is roughly right.
import type { Position } from "../../cache/index.ts";

const capacity = 8192;

export class Timeline {
  #positions: Position[] = [];
  #times: number[] = [];

  /** Everything up to `head` was there at this time. */
  note(head: Position, atMs: number): void {
    const last = this.#positions.length - 1;
    if (this.#positions[last] === head) return;
    if (this.#times[last] === atMs) {
      this.#positions[last] = head;
      return;
    }
    this.#positions.push(head);
    this.#times.push(atMs);
    if (this.#positions.length > capacity) this.#thin();
  }

  /** Undefined: never heard of. */
  timeOf(position: Position): number | undefined {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#positions[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return this.#times[low];
  }

  get size(): number {
    return this.#positions.length;
  }

  #thin(): void {
    const half = capacity / 2;
    const isKept = (_: number, index: number) => index >= half || index % 2 === 1;
    this.#positions = this.#positions.filter(isKept);
    this.#times = this.#times.filter(isKept);
  }
}

// When which position was published: says how old the first thing is that a client has not been sent. The last flushes by
// themselves, those before second by second. Bound: 64 flushes, and 1,024 seconds in which there were some; whoever is
// further behind counts as that far.
import type { Position } from "../../cache/index.ts";

const mostSingle = 64;
const mostSlices = 1024;
const sliceMs = 1000;

export class FlushTimes {
  readonly #single: { readonly to: Position; readonly atMs: number }[] = [];
  /** Each with the time of its first flush and the position of its last. */
  readonly #slices: { to: Position; readonly atMs: number }[] = [];

  note(to: Position, atMs: number): void {
    this.#single.push({ to, atMs });
    if (this.#single.length <= mostSingle) return;
    const old = this.#single.shift();
    const last = this.#slices.at(-1);
    if (old === undefined) return;
    if (last !== undefined && old.atMs - last.atMs < sliceMs) last.to = old.to;
    else this.#slices.push({ ...old });
    if (this.#slices.length > mostSlices) this.#slices.shift();
  }

  /** When the first flush beyond the position was made; of those long ago, up to a second before that. */
  firstBeyondMs(position: Position): number | undefined {
    const seen = this.#single.findLastIndex(({ to }) => to <= position);
    if (seen >= 0) return this.#single[seen + 1]?.atMs;
    const seenBefore = this.#slices.findLastIndex(({ to }) => to <= position);
    return (this.#slices[seenBefore + 1] ?? this.#single[0])?.atMs;
  }
}

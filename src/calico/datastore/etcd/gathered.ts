// What a busy stream says, handed on in bunches: each hand-over passes a dozen asynchronous steps on its way to the cache,
// which cost more than the reading of one change. A few are handed on at once, because a moment here is one more for every
// client; while much comes, it gathers for some milliseconds. Bound: so many items, then the source is paused until they are taken.
import { type Clock, RecentRate } from "../../../base/lib/index.ts";

export type Source<Item> = {
  /** Says once that it ended, without an error when it ended well. */
  listen(to: { item: (item: Item) => void; end: (error: unknown) => void }): void;
  pause(): void;
  resume(): void;
};

const gatherManyMs = 15;
/** Much is more than so many a millisecond, over as long as is remembered. */
const manyPerMs = 1.5;
const rateMemoryMs = 100;
const mostItems = 1000;

export async function* gathered<Item>(source: Source<Item>, clock: Clock): AsyncGenerator<Item[]> {
  let waiting: Item[] = [];
  let end: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let isPaused = false;
  source.listen({
    item: (item) => {
      waiting.push(item);
      if (waiting.length >= mostItems && !isPaused) {
        isPaused = true;
        source.pause();
      }
      wake?.();
    },
    end: (error) => {
      end = { error };
      wake?.();
    },
  });
  const handed = new RecentRate(rateMemoryMs);
  for (;;) {
    while (waiting.length === 0 && end === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const leftMs = handed.lastMs + (handed.perMs < manyPerMs ? 0 : gatherManyMs) - clock.monotonicMs();
    if (leftMs > 0 && end === undefined) await clock.sleep(leftMs);
    const items = waiting;
    waiting = [];
    handed.note(items.length, clock.monotonicMs());
    if (items.length > 0) yield items;
    else if (end?.error !== undefined) throw end.error;
    else if (end !== undefined) return;
    if (isPaused) {
      isPaused = false;
      source.resume();
    }
  }
}

// What a busy stream says, handed on in bunches: each hand-over passes a dozen asynchronous steps on its way to the cache,
// which cost more than the reading of one change. The first word after a pause is handed on at once; what follows close
// behind gathers for a few milliseconds. Bound: so many items, then the stream is paused until they are taken.
import type { Clock } from "../../lib/index.ts";

export type Source<Item> = {
  /** Says once that it ended, without an error when it ended well. */
  listen(to: { item: (item: Item) => void; end: (error: unknown) => void }): void;
  pause(): void;
  resume(): void;
};

/** Less than what updates gather for before they are published, so that nobody gets them later for it. */
const gatherMs = 5;
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
  for (let handedAtMs = Number.NEGATIVE_INFINITY; ; ) {
    while (waiting.length === 0 && end === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const leftMs = handedAtMs + gatherMs - clock.monotonicMs();
    if (leftMs > 0 && end === undefined) await clock.sleep(leftMs);
    const items = waiting;
    waiting = [];
    handedAtMs = clock.monotonicMs();
    if (items.length > 0) yield items;
    else if (end?.error !== undefined) throw end.error;
    else if (end !== undefined) return;
    if (isPaused) {
      isPaused = false;
      source.resume();
    }
  }
}

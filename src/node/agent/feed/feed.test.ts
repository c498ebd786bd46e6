import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import type { DataSet, FeedConsumer, FeedState } from "../../part/index.ts";
import { type FeedEvent, type FeedSource, openFeed } from "./feed.ts";

/** A source that a test speaks for; it knows what is there, and tells it from the beginning whenever it is opened. */
class Played implements FeedSource {
  readonly sets: readonly DataSet[] = ["felix"];
  openings = 0;
  #tell: ((events: readonly FeedEvent[] | Error) => void) | undefined;
  readonly #queue: (readonly FeedEvent[] | Error)[] = [];

  say(...events: readonly FeedEvent[]): void {
    this.#push(events);
  }

  fail(error: Error): void {
    this.#push(error);
  }

  async *open(signal: AbortSignal): AsyncGenerator<{ set: DataSet; events: readonly FeedEvent[] }> {
    this.openings += 1;
    this.#queue.length = 0;
    while (!signal.aborted) {
      const next = this.#queue.shift() ?? (await this.#next(signal));
      if (next === undefined) return;
      if (next instanceof Error) throw next;
      yield { set: "felix", events: next };
    }
  }

  #push(said: readonly FeedEvent[] | Error): void {
    if (this.#tell === undefined) this.#queue.push(said);
    else this.#tell(said);
  }

  #next(signal: AbortSignal): Promise<readonly FeedEvent[] | Error | undefined> {
    return new Promise((resolve) => {
      const end = (said: readonly FeedEvent[] | Error | undefined) => {
        this.#tell = undefined;
        signal.removeEventListener("abort", onAbort);
        resolve(said);
      };
      const onAbort = () => end(undefined);
      this.#tell = end;
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

class Recorder implements FeedConsumer {
  readonly keys = new Map<string, string>();
  readonly states: FeedState[] = [];
  sets = 0;

  set(path: string, value: string): void {
    this.sets += 1;
    this.keys.set(path, value);
  }
  delete(path: string): void {
    this.keys.delete(path);
  }
  settled(state: FeedState): void {
    this.states.push(state);
  }
}

function opened(expected = 0) {
  const clock = new FakeClock();
  const source = new Played();
  const stop = new AbortController();
  const watched: FeedState[] = [];
  const feed = openFeed({
    sources: [source],
    expected: { felix: expected },
    ...{ clock, random: () => 0, log: silentLog, signal: stop.signal, watch: (_, state) => void watched.push(state) },
  });
  return { clock, source, feed, watched, [Symbol.dispose]: () => stop.abort() };
}

const set = (path: string, value: string): FeedEvent => ({ is: "set", path, value });
const inSync: FeedEvent = { is: "in sync" };

test("those who come together share one stream, and are told when they have heard everything", async () => {
  using at = opened();
  const [first, second] = [new Recorder(), new Recorder()];
  at.feed.follow("felix", first);
  at.feed.follow("felix", second);
  await at.clock.advance(100);
  equal(at.source.openings, 1);
  at.source.say(set("/a", "1"));
  await at.clock.settle();
  at.source.say(set("/b", "2"), inSync);
  await at.clock.settle();
  for (const { keys, states } of [first, second]) {
    deepEqual(
      [...keys],
      [
        ["/a", "1"],
        ["/b", "2"],
      ],
    );
    deepEqual(states, [{ inSync: false }, { inSync: true }]);
  }
});

test("those who are expected are waited for, but not for long", async () => {
  for (const comes of [true, false]) {
    using at = opened(2);
    at.feed.follow("felix", new Recorder());
    await at.clock.advance(1000);
    equal(at.source.openings, 0);
    if (comes) at.feed.follow("felix", new Recorder());
    await at.clock.advance(100);
    equal(at.source.openings, comes ? 1 : 0);
    await at.clock.advance(5000);
    equal(at.source.openings, 1);
  }
});

test("one who comes late has the stream opened anew, is not in sync before it is whole, and the others stay in sync", async () => {
  using at = opened();
  const [early, late] = [new Recorder(), new Recorder()];
  at.feed.follow("felix", early);
  await at.clock.advance(100);
  at.source.say(set("/a", "1"), set("/b", "1"), inSync);
  await at.clock.settle();
  at.feed.follow("felix", late);
  at.source.say(set("/c", "1"));
  await at.clock.settle();
  deepEqual([late.sets, early.keys.has("/c")], [0, true]);
  await at.clock.advance(100);
  equal(at.source.openings, 2);
  // As a source does that knows what it has told: what has gone is deleted when it is in sync.
  at.source.say(set("/a", "2"));
  await at.clock.settle();
  deepEqual(late.states.at(-1), { inSync: false });
  deepEqual(early.states.at(-1), { inSync: true });
  at.source.say({ is: "delete", path: "/b" }, { is: "delete", path: "/c" }, inSync);
  await at.clock.settle();
  deepEqual(late.states.at(-1), { inSync: true });
  for (const { keys } of [early, late]) deepEqual([...keys], [["/a", "2"]]);
});

test("a lost stream is said, keeps what is known, and is opened again after pauses that grow", async () => {
  using at = opened();
  const consumer = new Recorder();
  at.feed.follow("felix", consumer);
  await at.clock.advance(100);
  at.source.say(set("/a", "1"), inSync);
  await at.clock.settle();
  at.source.fail(new Error("gone"));
  await at.clock.settle();
  deepEqual(consumer.states.at(-1), { inSync: true, cutOff: "gone" });
  deepEqual([...consumer.keys], [["/a", "1"]]);
  await at.clock.advance(1000);
  equal(at.source.openings, 2);
  at.source.fail(new Error("gone again"));
  await at.clock.settle();
  await at.clock.advance(1000);
  equal(at.source.openings, 2);
  await at.clock.advance(1000);
  equal(at.source.openings, 3);
  at.source.say(set("/a", "1"), inSync);
  await at.clock.settle();
  deepEqual(consumer.states.at(-1), { inSync: true });
  deepEqual(at.watched.at(-1), { inSync: true });
});

test("contact that comes back before the state was ever whole does not make it whole", async () => {
  using at = opened();
  const consumer = new Recorder();
  at.feed.follow("felix", consumer);
  await at.clock.advance(100);
  at.source.say(set("/a", "1"));
  at.source.say({ is: "cut off", why: "no answer" });
  await at.clock.settle();
  deepEqual(consumer.states.at(-1), { inSync: false, cutOff: "no answer" });
  at.source.say({ is: "back" });
  await at.clock.settle();
  deepEqual(consumer.states.at(-1), { inSync: false });
});

test("one who has left hears nothing any more", async () => {
  using at = opened();
  const consumer = new Recorder();
  const following = at.feed.follow("felix", consumer);
  await at.clock.advance(100);
  following[Symbol.dispose]();
  at.source.say(set("/a", "1"), inSync);
  await at.clock.settle();
  deepEqual([consumer.sets, consumer.states], [0, []]);
});

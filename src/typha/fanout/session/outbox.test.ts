import { deepEqual, equal, ok } from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { Flights } from "./flights.ts";
import { Outbox } from "./outbox.ts";

/** A connection whose other end takes bytes only when told to. */
class SlowPeer {
  readonly taken: Buffer[] = [];
  readonly duplex: Duplex;
  #pending: (() => void) | undefined;
  #pendingBytes = 0;
  mostPendingBytes = 0;

  constructor() {
    const hold = (chunks: readonly Buffer[], done: () => void): void => {
      this.#pendingBytes = chunks.reduce((total, chunk) => total + chunk.length, 0);
      this.mostPendingBytes = Math.max(this.mostPendingBytes, this.#pendingBytes);
      this.#pending = () => {
        this.taken.push(...chunks);
        this.#pendingBytes = 0;
        done();
      };
    };
    this.duplex = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => hold([chunk], done),
      writev: (chunks, done) =>
        hold(
          chunks.map(({ chunk }) => chunk as Buffer), // an Outbox writes bytes only
          done,
        ),
    });
  }

  get isHolding(): boolean {
    return this.#pending !== undefined;
  }

  async take(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async takeAll(): Promise<void> {
    while (this.isHolding) await this.take();
  }

  get text(): string {
    return Buffer.concat(this.taken).toString("latin1");
  }
}

function newOutbox(flights = new Flights()) {
  const peer = new SlowPeer();
  const seen = { idle: 0, nowMs: 0, latencies: [] as number[] };
  const outbox = new Outbox(
    peer.duplex,
    {
      onIdle: () => {
        seen.idle += 1;
      },
      onLatency: (ms) => void seen.latencies.push(ms),
    },
    { now: () => seen.nowMs, flights },
  );
  return { peer, outbox, seen };
}

for (const { when, others, most } of [
  { when: "few others read nothing", others: 10, most: 64 * 1024 },
  { when: "many others read nothing", others: 1000, most: 32 * 1024 },
]) {
  test(`a peer that does not read is never handed more than ${most} bytes when ${when}`, async () => {
    const flights = new Flights();
    for (let other = 0; other < others; other += 1) newOutbox(flights).outbox.sendAll([Buffer.alloc(100_000)]);
    const { peer, outbox } = newOutbox(flights);
    const parts = Array.from({ length: 100 }, (_, index) => Buffer.alloc(100_000, index));
    outbox.sendAll(parts);
    await peer.takeAll();
    ok(peer.mostPendingBytes <= most, `${peer.mostPendingBytes} bytes pending`);
    deepEqual(Buffer.concat(peer.taken), Buffer.concat(parts));
  });
}

test("what others have in flight together has a bound, and counts no longer when it has landed or they are gone", async () => {
  const flights = new Flights();
  const others = Array.from({ length: 1000 }, () => newOutbox(flights));
  for (const { outbox } of others) outbox.sendAll([Buffer.alloc(65_536), Buffer.alloc(65_536)]);
  const pending = others.reduce((total, { peer }) => total + peer.mostPendingBytes, 0);
  ok(pending <= 8 * 1024 * 1024 + 1000 * 32 * 1024, `${pending} bytes pending`);
  ok(!flights.mayBeLarge);
  for (const [index, { outbox, peer }] of others.entries()) {
    if (index % 2 === 0) await peer.takeAll();
    else if (index % 4 === 1) outbox.close();
    else {
      peer.duplex.on("error", () => outbox.close());
      peer.duplex.destroy(new Error("the connection broke"));
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
  ok(flights.mayBeLarge);
  equal(flights.bytes, 0);
});

test("what is sent arrives in order, whatever its sizes", async () => {
  const { peer, outbox, seen } = newOutbox();
  const sizes = [1, 16_384, 16_385, 0, 5, 70_000, 32_768, 32_769, 3];
  const letters = sizes.map((size, index) => Buffer.alloc(size, "abcdefghi"[index]));
  for (const bytes of letters) outbox.send(bytes);
  await peer.takeAll();
  equal(peer.text, Buffer.concat(letters).toString("latin1"));
  ok(outbox.isIdle);
  equal(seen.idle, 1);
  equal(
    outbox.bytesSent,
    sizes.reduce((total, size) => total + size, 0),
  );
  equal(outbox.queuedBytes, 0);
});

test("small parts leave together", async () => {
  const { peer, outbox } = newOutbox();
  outbox.sendAll(Array.from({ length: 1000 }, () => Buffer.alloc(10)));
  let writes = 0;
  while (peer.isHolding) {
    await peer.take();
    writes += 1;
  }
  equal(writes, 1);
});

test("time without progress counts only while something waits for the peer", async () => {
  const { peer, outbox, seen } = newOutbox();
  equal(outbox.stalledMs(1000), 0);
  seen.nowMs = 1000;
  outbox.sendAll([Buffer.alloc(100_000)]);
  equal(outbox.stalledMs(1500), 500);
  seen.nowMs = 1600;
  await peer.take();
  equal(outbox.stalledMs(1700), 100);
  await peer.takeAll();
  equal(outbox.stalledMs(9000), 0);
  deepEqual(seen.latencies, [600]);
});

test("what has not been handed over is not sent after the end", async () => {
  const { peer, outbox } = newOutbox();
  outbox.sendAll([Buffer.alloc(65_536), Buffer.alloc(100_000)]);
  outbox.close();
  await peer.takeAll();
  equal(Buffer.concat(peer.taken).length, 65_536);
});

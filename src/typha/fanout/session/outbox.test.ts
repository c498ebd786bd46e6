import { deepEqual, equal, ok } from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
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

function newOutbox() {
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
    () => seen.nowMs,
  );
  return { peer, outbox, seen };
}

test("a peer that does not read is never handed more than two chunks, whatever waits for it", async () => {
  const { peer, outbox } = newOutbox();
  const parts = Array.from({ length: 100 }, (_, index) => Buffer.alloc(100_000, index));
  outbox.sendAll(parts);
  await peer.takeAll();
  ok(peer.mostPendingBytes <= 32 * 1024, `${peer.mostPendingBytes} bytes pending`);
  deepEqual(Buffer.concat(peer.taken), Buffer.concat(parts));
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

test("what is cleared is not sent", async () => {
  const { peer, outbox } = newOutbox();
  outbox.sendAll([Buffer.alloc(16_384), Buffer.alloc(100_000)]);
  outbox.clear();
  await peer.takeAll();
  ok(Buffer.concat(peer.taken).length <= 32 * 1024);
});

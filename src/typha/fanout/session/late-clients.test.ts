// A publisher, a hub and one client that takes its bytes when the test says so: what it is told, and how late it is said to be.
import { deepEqual, equal, ok } from "node:assert/strict";
import { Duplex } from "node:stream";
import { describe, test } from "node:test";
import { clientHello } from "../../../../test/kit/client-hello.ts";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { defaultLimits } from "../../../../test/kit/fanout-limits.ts";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import { textCodec } from "../../../../test/kit/text-codec.ts";
import { type KvUpdate, type SyncStatus, syncStatus, updateType } from "../../../calico/model/basics.ts";
import { KvCache } from "../../cache/index.ts";
import { clientFrame, clientPreamble, frame, serverStreams } from "../../wire/index.ts";
import { type FlushSink, Hub, noMetrics, Publisher, Tally } from "../index.ts";

const statuses = new Map(
  Object.values(syncStatus).map((status) => [
    Buffer.from(frame({ is: "syncStatus", syncStatus: status })).toString("hex"),
    `status ${status}`,
  ]),
);
const hello = { ...clientHello, supportsDecoderRestart: false, supportedCompressionAlgorithms: [] };

function set(path: string, value = "1"): KvUpdate {
  return { path, value, revision: "", v3ResourceVersion: "", type: updateType.new };
}

async function connected() {
  const clock = new FakeClock();
  const tally = new Tally();
  const { log, lines } = recordLog();
  const cache = new KvCache({ codec: textCodec(" "), clock, legacyForm: (update) => update });
  const sinks = new Set<FlushSink>();
  const publisher = new Publisher({
    syncer: "felix",
    cache,
    clock,
    metrics: noMetrics,
    batchingAgeMs: 10,
    messageUpdates: 100,
    sinks,
    signal: new AbortController().signal,
  });
  const hub = new Hub({
    sources: new Map([
      [
        "felix",
        {
          snapshot: async (variant) => publisher.snapshot(variant),
          release: (snapshot) => publisher.release(snapshot),
          changes: async (since, variant) => publisher.changes(since, variant),
        },
      ],
    ]),
    limits: { ...defaultLimits, pingIntervalMs: 1e9, pongTimeoutMs: 1e9 },
    clock,
    random: () => 0,
    log,
    tally,
    streams: serverStreams(),
    preference: [],
    version: "test",
    worker: 0,
  });
  sinks.add(hub);
  const heard: string[] = [];
  let isReading = true;
  let waiting: (() => void)[] = [];
  const duplex = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      heard.push(statuses.get(chunk.toString("hex")) ?? chunk.toString().trim());
      if (isReading) done();
      else waiting.push(done);
    },
  });
  hub.serve({ address: "peer", destroy: () => undefined }, duplex);
  duplex.push(Buffer.concat([clientPreamble, clientFrame({ is: "clientHello", ...hello })]));
  await clock.advance(1000);
  heard.length = 0;
  return {
    clock,
    lines,
    tally,
    heard,
    report: () => hub.reports()[0],
    async apply(updates: readonly KvUpdate[], status?: SyncStatus): Promise<void> {
      publisher.apply({ updates, ...(status === undefined ? {} : { status }) });
      await clock.settle();
    },
    stall(): void {
      isReading = false;
    },
    /** Takes what waits for it now. */
    async take(): Promise<void> {
      const taken = waiting;
      waiting = [];
      for (const done of taken) done();
      await clock.settle();
    },
    async read(): Promise<void> {
      isReading = true;
      await this.take();
    },
  };
}

describe("a status", () => {
  for (const flushes of [1, 5, 40]) {
    test(`is never told before it is published, also not to a client ${flushes} flushes late`, async () => {
      const client = await connected();
      await client.apply([set("/a")], syncStatus.resyncInProgress);
      await client.apply([], syncStatus.inSync);
      await client.clock.advance(1000);
      client.stall();
      for (let flush = 0; flush < flushes; flush += 1) {
        await client.apply([set(`/${flush}`)]);
        await client.clock.advance(1000);
      }
      await client.apply([set("/b")]);
      await client.apply([set("/c")], syncStatus.resyncInProgress); // gathers: a flush has just been
      client.heard.length = 0;
      await client.read();
      deepEqual(
        client.heard.filter((text) => text.startsWith("status")),
        [],
      );
      await client.clock.advance(1000);
      await client.apply([set("/d")], syncStatus.inSync);
      await client.clock.advance(1000);
      deepEqual(
        client.heard.filter((text) => text.startsWith("status") || text.includes("/d")),
        ["status 1", "/d=1", "status 2"],
      );
    });
  }
});

describe("the lag", () => {
  test("of a client that is always one flush behind does not add up", async () => {
    const client = await connected();
    await client.apply([set("/a")], syncStatus.inSync);
    client.stall();
    for (let second = 1; second <= 400; second += 1) {
      await client.clock.advance(950);
      await client.apply([set("/a", `${second}`)]);
      ok((client.report()?.lagMs ?? 0) <= 1000, `${client.report()?.lagMs} ms after ${second} s`);
      await client.clock.advance(50);
      if (second > 1) await client.take();
    }
    deepEqual(
      client.lines.filter(({ level }) => level === "warn"),
      [],
    );
  });

  for (const seconds of [10, 100, 1000]) {
    test(`of a client that took nothing for ${seconds} s of changes is that, and it is gone when they are taken`, async () => {
      const client = await connected();
      await client.apply([set("/a")], syncStatus.inSync);
      await client.clock.advance(1000);
      client.stall();
      await client.apply([set("/a", "in flight")]);
      for (let second = 0; second <= seconds; second += 1) {
        await client.clock.advance(1000);
        await client.apply([set("/a", `${second}`)]);
      }
      equal(client.report()?.lagMs, seconds * 1000);
      await client.read();
      equal(client.report()?.lagMs, 0);
      const isFar = seconds * 1000 > defaultLimits.maxFallBehindMs;
      equal(client.lines.filter(({ message }) => message.startsWith("client is far behind")).length, isFar ? 1 : 0);
    });
  }

  test("does not grow while nothing is published", async () => {
    const client = await connected();
    await client.apply([set("/a")], syncStatus.inSync);
    await client.clock.advance(1000);
    client.stall();
    await client.apply([set("/b")]);
    await client.clock.advance(1000);
    await client.apply([set("/c")]);
    await client.clock.advance(600_000);
    equal(client.report()?.lagMs, 0);
  });
});

for (const isLate of [false, true]) {
  test(`keys per message are counted for each message that a client ${isLate ? "takes late" : "is sent"}`, async () => {
    const client = await connected();
    await client.apply([set("/a")], syncStatus.inSync);
    await client.clock.advance(1000);
    if (isLate) client.stall();
    await client.apply([set("/b")]);
    await client.clock.advance(1000);
    client.tally.drain();
    await client.apply(Array.from({ length: 250 }, (_, index) => set(`/${index}`)));
    await client.read();
    const observed = client.tally
      .drain()
      .flatMap((item) => (item.is === "observe" && item.name === "typha_kvs_per_msg" ? [item] : []));
    deepEqual(
      observed.map(({ value, times }) => ({ value, times })),
      [
        { value: 100, times: 2 },
        { value: 50, times: 1 },
      ],
    );
  });
}

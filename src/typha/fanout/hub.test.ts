// Sessions on a fake clock: every deadline at its time, and not before.
import { deepEqual, equal, ok } from "node:assert/strict";
import { Duplex } from "node:stream";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { clientHello } from "../../../test/kit/client-hello.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { defaultLimits } from "../../../test/kit/fanout-limits.ts";
import { silentLog } from "../../base/lib/index.ts";
import { syncerTypes } from "../../calico/model/basics.ts";
import type { Snapshot } from "../cache/index.ts";
import { clientFrame, clientPreamble, serverStreams } from "../wire/index.ts";
import { type BroadcastSource, type FanoutLimits, Hub, type Session, Tally } from "./index.ts";

const noSnapshot: Snapshot = { variant: "modern/none", position: 0, keys: 0, parts: [], bytes: 0, rawBytes: 0 };
const source: BroadcastSource = {
  snapshot: async () => noSnapshot,
  release: () => undefined,
  changes: async () => ({ to: 0, updates: 0, messages: [], bytes: new Uint8Array(), status: undefined }),
};

type Peer = { duplex: Duplex; received: Buffer[]; isDestroyed: () => boolean; session: Session };

function newHub(limits: Partial<FanoutLimits> = {}) {
  const clock = new FakeClock();
  const tally = new Tally();
  const hub = new Hub({
    sources: new Map(syncerTypes.map((syncer) => [syncer, source])),
    limits: { ...defaultLimits, ...limits },
    clock,
    random: () => 0,
    log: silentLog,
    tally,
    streams: serverStreams(),
    preference: ["snappy"],
    version: "test",
    worker: 0,
  });
  const connect = (options: { takesBytes?: boolean } = {}): Peer => {
    const received: Buffer[] = [];
    const duplex = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        received.push(chunk);
        if (options.takesBytes !== false) done();
      },
    });
    let isDestroyed = false;
    const session = hub.accept({
      address: "peer",
      destroy: () => {
        isDestroyed = true;
      },
    });
    return { duplex, received, isDestroyed: () => isDestroyed, session };
  };
  const advance = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    hub.tick(clock.monotonicMs());
    await clock.settle();
  };
  return { hub, clock, tally, connect, advance };
}

const hello = Buffer.concat([
  clientPreamble,
  clientFrame({
    is: "clientHello",
    ...clientHello,
    supportsDecoderRestart: false,
    supportedCompressionAlgorithms: [],
  }),
]);

async function streaming(peer: Peer, advance: (ms: number) => Promise<void>): Promise<void> {
  peer.session.attach(peer.duplex);
  peer.duplex.push(hello);
  await advance(0);
  await advance(0);
}

describe("the handshake timeout", () => {
  test("counts from accept, TLS included", async () => {
    const { hub, connect, advance } = newHub();
    const peer = connect();
    await advance(9999);
    equal(peer.isDestroyed(), false);
    peer.session.attach(peer.duplex); // TLS took nearly all of it
    await advance(1);
    ok(peer.isDestroyed());
    equal(hub.activeCount, 0);
  });

  test("does not touch a client that has said hello", async () => {
    const { hub, connect, advance } = newHub();
    const peer = connect();
    await streaming(peer, advance);
    await advance(20_000);
    equal(hub.reports()[0]?.phase, "streaming");
  });
});

test("pings go out at their interval, and a client that answers none is cut at the pong timeout", async () => {
  const { hub, connect, advance } = newHub();
  const peer = connect();
  await streaming(peer, advance);
  const before = peer.received.length;
  for (let second = 0; second < 59; second += 1) await advance(1000);
  equal(peer.received.length - before, 5);
  equal(hub.activeCount, 1);
  await advance(2000);
  equal(hub.activeCount, 0);
});

describe("what a client says", () => {
  const phase = (hub: Hub) => hub.reports()[0]?.phase;

  test("in one turn of the loop is looked at once, when the turn ends", async () => {
    const { hub, connect } = newHub();
    const { session, duplex } = connect();
    session.attach(duplex);
    for (let at = 0; at < hello.length; at += 100) duplex.emit("data", hello.subarray(at, at + 100));
    equal(phase(hub), "hello");
    await nextTurn();
    equal(phase(hub), "streaming");
  });

  test("is looked at before the turn ends if it is a flood", () => {
    const { connect } = newHub();
    const { session, duplex, isDestroyed } = connect();
    session.attach(duplex);
    duplex.emit("data", Buffer.alloc(60 * 1024, 0xff));
    equal(isDestroyed(), false);
    duplex.emit("data", Buffer.alloc(4 * 1024, 0xff));
    ok(isDestroyed());
  });

  test("is looked at before its end is", async () => {
    const { hub, tally, connect } = newHub();
    const { session, duplex } = connect();
    session.attach(duplex);
    duplex.push(Buffer.of(0));
    duplex.push(null);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    equal(hub.activeCount, 0);
    const closed = tally.drain().filter(({ name }) => name === "cattail_connections_closed_total");
    deepEqual(
      closed.map((item) => "label" in item && item.label),
      ["WIRE_BAD_BYTES"],
    );
  });
});

test("a client that takes nothing is cut at the write timeout", async () => {
  const { connect, advance } = newHub({ pongTimeoutMs: 1_000_000 });
  const peer = connect({ takesBytes: false });
  await streaming(peer, advance);
  await advance(120_000);
  equal(peer.isDestroyed(), false);
  await advance(1);
  ok(peer.isDestroyed());
});

test("too many that have not said hello: the one that has been trying longest makes room", async () => {
  const { hub, connect, advance } = newHub({ maxHandshaking: 3 });
  const served = connect();
  await streaming(served, advance);
  const peers = Array.from({ length: 5 }, () => connect());
  deepEqual(
    peers.map((peer) => peer.isDestroyed()),
    [true, true, false, false, false],
  );
  equal(served.isDestroyed(), false);
  equal(hub.activeCount, 4);
});

test("a client counts as greeted from its hello on, also while its first acknowledgement is awaited", async () => {
  const { hub, tally, connect, advance } = newHub({ maxHandshaking: 1 });
  const peer = connect();
  peer.session.attach(peer.duplex);
  peer.duplex.push(Buffer.concat([clientPreamble, clientFrame({ is: "clientHello", ...clientHello })]));
  await advance(0);
  const [report] = hub.reports();
  deepEqual(
    { node: report?.node, syncer: report?.syncer, phase: report?.phase, compression: report?.compression },
    { node: clientHello.hostname, syncer: "felix", phase: "acknowledging", compression: "snappy" },
  );
  const streaming = () =>
    tally
      .drain()
      .flatMap((item) => (item.name === "typha_connections_streaming" && item.is === "add" ? item.value : []));
  deepEqual(streaming(), [1]);
  for (let other = 0; other < 3; other += 1) connect();
  equal(peer.isDestroyed(), false, "it is not one of those that have not said hello");
  peer.session.end({ code: "FANOUT_SHUTDOWN", severity: "info", problem: "" });
  deepEqual(streaming(), [-1]);
});

test("gauges return to nothing, however a session ends", async () => {
  const { hub, tally, connect, advance } = newHub();
  const peers = [connect(), connect(), connect()];
  for (const peer of peers.slice(0, 2)) await streaming(peer, advance);
  peers[0]?.duplex.destroy(new Error("reset"));
  peers[1]?.duplex.push(null);
  await advance(0);
  await advance(10_000);
  equal(hub.activeCount, 0);
  const added = new Map(tally.drain().flatMap((item) => (item.is === "add" ? [[item.name, item.value]] : [])));
  equal(added.get("typha_connections_accepted"), 3);
  equal(added.get("typha_connections_active"), 0);
  equal(added.get("typha_connections_streaming"), 0);
});

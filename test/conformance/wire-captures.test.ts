// Conversations recorded between a Go client and the real Typha (test/vectors/wire, see its README.md): our client reads
// what the server sent, our server reads what the client sent, and what we would have sent has the same bytes.
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SnappyDecoder } from "../../src/base/snappy/index.ts";
import { ClientMachine, encodeUpdate, type SerializedUpdate, type ServerDecision } from "../../src/typha/wire/index.ts";
import { serverMachine } from "../kit/server-machine.ts";

const folder = "test/vectors/wire";
const captures = [
  "felix-modern-compressed",
  "felix-no-compression",
  "felix-no-restart",
  "felix-empty-type",
  "bgp-modern-compressed",
  "tunnel-modern-compressed",
  "node-status-modern-compressed",
];
const read = (name: string): Buffer => readFileSync(`${folder}/${name}`);
const eventsOf = (name: string): unknown[] =>
  readFileSync(`${folder}/${name}.events.jsonl`, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    // Connection ids are 64-bit, which JSON.parse would round.
    .map((line) => JSON.parse(line.replace(/"serverConnID":(\d+)/, '"serverConnID":"$1"')));

for (const name of captures) {
  for (const step of [1, 13, 4096, 1 << 20]) {
    test(`our client reads ${name} as Go's did, ${step} bytes at a time`, () => {
      deepEqual(clientEvents(name, step), eventsOf(name).map(step === 1 ? same : withoutOffset));
    });
  }
  test(`our server follows what the client of ${name} sent`, () => {
    deepEqual(serverDecisions(read(`${name}.sent.bin`)), decisionsFor(name));
  });
  test(`our key/values have the bytes that Go gave them in ${name}`, () => {
    const isCompressed = name.endsWith("compressed");
    // The snapshot, and what was made while the client watched.
    const streams = isCompressed ? [`${name}.seg1.gob`, `${name}.seg2.gob`] : [`${name}.recv.bin`];
    const kvs = eventsOf(name).flatMap((event) => (isKv(event) && event.kv.type === 1 ? [event.kv] : []));
    ok(kvs.length > 0);
    for (const { key, value, revision, v3rv } of kvs) {
      const update = { path: key, value: value ?? undefined, revision, v3ResourceVersion: v3rv, type: 1 } as const;
      const piece = encodeUpdate(update);
      ok(
        streams.some((stream) => read(stream).includes(piece)),
        `${key} is not in the stream as we would encode it`,
      );
    }
  });
}

for (const name of captures.filter((capture) => capture.endsWith("compressed"))) {
  test(`our snappy decoder gives the gob streams of ${name}`, () => {
    const offsets = eventsOf(name).flatMap((event) => (isRestart(event) ? [event.offset] : []));
    const recv = read(`${name}.recv.bin`);
    deepEqual(recv.subarray(0, offsets[0]), read(`${name}.seg0.gob`));
    deepEqual(inflate(recv.subarray(offsets[0], offsets[1])), read(`${name}.seg1.gob`));
    deepEqual(inflate(recv.subarray(offsets[1])), read(`${name}.seg2.gob`));
  });
}

test("a client that the original refused for its keys is served with legacy ones", () => {
  const decisions = serverDecisions(read("reject-legacy-keys.sent.bin"));
  deepEqual(decisions, ["greeted", "send"]);
});

test("a client that asks for an unknown syncer type is refused without a byte, as by the original", () => {
  deepEqual(serverDecisions(read("reject-unknown-type.sent.bin")), ["close WIRE_UNKNOWN_SYNCER"]);
});

type KvEvent = { kv: { key: string; value: string | null; revision: string; v3rv: string; type: number } };
const isKv = (event: unknown): event is KvEvent => typeof event === "object" && event !== null && "kv" in event;
const isRestart = (event: unknown): event is { restart: string; offset: number } =>
  typeof event === "object" && event !== null && "restart" in event;
const same = (event: unknown) => event;
const withoutOffset = (event: unknown) => (isRestart(event) ? { ...event, offset: 0 } : event);

// In the form the Go client prints. Only byte by byte is it known where in the connection a restart was met.
function clientEvents(name: string, step: number): unknown[] {
  const machine = new ClientMachine({ hello: helloFor(name) }, 0);
  const recv = read(`${name}.recv.bin`);
  const events: unknown[] = [];
  for (let at = 0; at < recv.length; at += step) {
    for (const event of machine.receive(recv.subarray(at, at + step), 0)) {
      if (event.is === "updates") events.push(...event.updates.map((update) => ({ kv: toPrinted(update) })));
      if (event.is === "status") events.push({ status: event.status });
      if (event.is === "restart") {
        const { message, compressionAlgorithm: restart } = event.restart;
        events.push({ message, offset: step === 1 ? at + 1 : 0, restart });
      }
      if (event.is === "hello") {
        const { serverConnId, supportsNodeResourceUpdates, syncerType, version } = event.hello;
        events.push({ hello: { serverConnID: `${serverConnId}`, supportsNodeResourceUpdates, syncerType, version } });
      }
      if (event.is === "close") events.push({ close: event.why });
    }
  }
  return events;
}

function toPrinted(update: SerializedUpdate) {
  const { key, value = null, revision, v3ResourceVersion: v3rv, ttlNanos, updateType: type } = update;
  return { key, value, revision, v3rv, ttl: Number(ttlNanos), type };
}

function helloFor(name: string) {
  const syncerType = { bgp: "bgp", tunnel: "tunnel-ip-allocation", node: "node-status" }[name.split("-")[0] ?? ""];
  return {
    hostname: "",
    info: "",
    version: "",
    syncerType: syncerType ?? "felix",
    supportsDecoderRestart: !name.endsWith("no-restart"),
    supportedCompressionAlgorithms: name.endsWith("compressed") ? ["snappy"] : [],
    supportsModernPolicyKeys: true,
    clientConnId: 1n,
  };
}

function decisionsFor(name: string): string[] {
  if (name.endsWith("compressed")) return ["greeted", "send", "startSnapshot", "startStreaming", "pong"];
  // The old client left before its first ping.
  return ["greeted", "send", "startSnapshot", "startStreaming", ...(name.endsWith("empty-type") ? [] : ["pong"])];
}

function serverDecisions(sent: Uint8Array): string[] {
  const machine = serverMachine();
  const all: ServerDecision[] = [];
  for (const byte of sent) {
    const decisions = machine.receive(Uint8Array.of(byte), 0);
    all.push(...decisions);
    if (decisions.some((decision) => decision.do === "startSnapshot")) all.push(...machine.snapshotWritten(0));
  }
  return all.map((decision) => (decision.do === "close" ? `close ${decision.why.code}` : decision.do));
}

function inflate(bytes: Uint8Array): Buffer {
  const decoder = new SnappyDecoder();
  decoder.feed(bytes);
  const parts: Uint8Array[] = [];
  for (let part = decoder.next(); part !== undefined; part = decoder.next()) parts.push(part.slice());
  equal(decoder.rest().length, 0);
  return Buffer.concat(parts);
}

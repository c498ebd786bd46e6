// What a server may say to a client, in order and out of order.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { clientHello } from "../../../test/kit/client-hello.ts";
import { encoder } from "../../base/gob/index.ts";
import { ClientMachine, type ClientOptions } from "./client-machine.ts";
import { frame, serverPreamble } from "./frame.ts";
import { kvsMessage } from "./kvs-message.ts";
import type { ServerHello } from "./messages.ts";
import { encodeUpdate } from "./pieces.ts";
import { anyEnvelope } from "./schema.ts";
import { plainStream, type ServerStream, snappyStream, zstdStream } from "./streams.ts";

const hello = { ...clientHello, supportedCompressionAlgorithms: ["zstd", "snappy"] };
const greeting: ServerHello = {
  is: "serverHello",
  version: "v1",
  syncerType: "felix",
  supportsNodeResourceUpdates: true,
  serverConnId: 9n,
};
const update = encodeUpdate({ path: "/a", value: "1", revision: "2", v3ResourceVersion: "", type: 1 });
const status = frame({ is: "syncStatus", syncStatus: 2 });
const ping = frame({ is: "ping", timestamp: { seconds: 5n, nanos: 6, offsetSeconds: "utc" } });
const restartTo = (compressionAlgorithm: string) => frame({ is: "decoderRestart", message: "", compressionAlgorithm });
const zstd = zstdStream((plain) => zstdCompressSync(plain));

function client(options: { hello?: Partial<ClientOptions["hello"]>; maxMessageBytes?: number } = {}): ClientMachine {
  return new ClientMachine(
    {
      ...options,
      hello: { ...hello, ...options.hello },
      zstdDecompress: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength }),
    },
    0,
  );
}

function hear(machine: ClientMachine, bytes: Uint8Array, step = bytes.length): string[] {
  const heard: string[] = [];
  for (let at = 0; at < bytes.length; at += step) {
    for (const event of machine.receive(bytes.subarray(at, at + step), 0)) {
      if (event.is === "close") heard.push(event.why.code);
      else if (event.is === "updates") heard.push(`updates ${event.updates.map(({ key }) => key).join(" ")}`);
      else if (event.is === "status") heard.push(`status ${event.status}`);
      else if (event.is === "restart") heard.push(`restart ${event.restart.compressionAlgorithm}`);
      else heard.push(event.is);
    }
  }
  return heard;
}

const plain = (...messages: Uint8Array[]) => Buffer.concat([serverPreamble, frame(greeting), ...messages]);

// Everything a server sends in one go, as if it did not wait for acknowledgements: what follows a restart is the next stream.
function compressed(stream: ServerStream): Uint8Array {
  const snapshot = [stream.opening, stream.pack(kvsMessage([update, update])), stream.snapshotClosing];
  const live = [stream.opening, stream.pack(status), stream.pack(kvsMessage([update])), stream.pack(ping)];
  return Buffer.concat([plain(restartTo(stream.compression)), ...snapshot, ...live]);
}

for (const stream of [snappyStream, zstd]) {
  for (const step of [1, 5, 100, 1 << 20]) {
    test(`follows a ${stream.compression} stream fed ${step} bytes at a time`, () => {
      deepEqual(hear(client(), compressed(stream), step), [
        "hello",
        `restart ${stream.compression}`,
        "send",
        "updates /a /a",
        `restart ${stream.compression}`,
        "send",
        "status 2",
        "updates /a",
        "send",
      ]);
    });
  }
}

test("follows a plain stream, and a plain stream restarted plainly", () => {
  const again = Buffer.concat([plain(kvsMessage([update]), restartTo("")), plainStream.opening, status]);
  deepEqual(hear(client(), again), ["hello", "updates /a", "restart ", "send", "status 2"]);
});

const wrongs: { name: string; options?: Parameters<typeof client>[0]; bytes: Uint8Array; heard: string[] }[] = [
  {
    name: "another syncer's hello",
    bytes: Buffer.concat([serverPreamble, frame({ ...greeting, syncerType: "bgp" })]),
    heard: ["WIRE_SYNCER_MISMATCH"],
  },
  {
    name: "a server without node resource updates",
    bytes: Buffer.concat([serverPreamble, frame({ ...greeting, supportsNodeResourceUpdates: false })]),
    heard: ["WIRE_OLD_SERVER"],
  },
  { name: "no hello", bytes: Buffer.concat([serverPreamble, status]), heard: ["WIRE_UNEXPECTED_MESSAGE"] },
  {
    name: "an envelope without a message in place of the hello",
    bytes: Buffer.concat([serverPreamble, Uint8Array.of(0x03, 0xff, 0x82, 0x00)]),
    heard: ["WIRE_NIL_MESSAGE"],
  },
  {
    name: "a restart before the hello",
    bytes: Buffer.concat([serverPreamble, restartTo("snappy")]),
    heard: ["WIRE_UNEXPECTED_MESSAGE"],
  },
  { name: "a second hello", bytes: plain(frame(greeting)), heard: ["hello", "WIRE_UNEXPECTED_MESSAGE"] },
  {
    name: "a restart that was not offered",
    options: { hello: { supportsDecoderRestart: false } },
    bytes: plain(restartTo("snappy")),
    heard: ["hello", "WIRE_BAD_RESTART"],
  },
  {
    name: "a compression that was not offered",
    options: { hello: { supportedCompressionAlgorithms: ["snappy"] } },
    bytes: plain(restartTo("zstd")),
    heard: ["hello", "WIRE_BAD_RESTART"],
  },
  { name: "a compression nobody knows", bytes: plain(restartTo("none")), heard: ["hello", "WIRE_BAD_RESTART"] },
  {
    name: "bytes behind a restart in the same chunk",
    bytes: Buffer.concat([
      plain(restartTo("snappy")),
      snappyStream.opening,
      snappyStream.pack(Buffer.concat([restartTo("snappy"), status])),
    ]),
    heard: ["hello", "restart snappy", "send", "WIRE_BAD_RESTART"],
  },
  {
    name: "plain bytes where snappy was announced",
    bytes: plain(restartTo("snappy"), serverPreamble),
    heard: ["hello", "restart snappy", "send", "WIRE_BAD_BYTES"],
  },
  {
    name: "plain bytes where zstd was announced",
    bytes: plain(restartTo("zstd"), serverPreamble),
    heard: ["hello", "restart zstd", "send", "WIRE_BAD_BYTES"],
  },
  { name: "definitions twice", bytes: plain(serverPreamble), heard: ["hello", "WIRE_BAD_BYTES"] },
  {
    name: "a message that claims more than may come",
    options: { maxMessageBytes: 1000 },
    bytes: plain(Uint8Array.of(0xfe, 0x10, 0x00)),
    heard: ["hello", "WIRE_MESSAGE_TOO_LONG"],
  },
];
for (const { name, options, bytes, heard } of wrongs) {
  test(`closes on ${name}`, () => {
    const machine = client(options);
    deepEqual(hear(machine, bytes), heard);
    deepEqual(hear(machine, status), [], "a closed machine says nothing");
    equal(machine.deadlineMs, undefined);
  });
}

test("ignores what only clients should send, and envelopes without a message, as Go's client does", () => {
  const pong = encoder(anyEnvelope).encode({
    Message: { type: "github.com/projectcalico/typha/pkg/syncproto.MsgACK", value: {} },
  });
  const machine = client();
  // A stream of its own, because this encoder numbers its types differently: restarted plainly.
  hear(machine, plain(Uint8Array.of(0x03, 0xff, 0x82, 0x00), restartTo("")));
  deepEqual(hear(machine, pong), []);
  equal(machine.deadlineMs, 30_000);
});

test("an empty syncer type on either side means felix", () => {
  const machine = client({ hello: { syncerType: "" } });
  deepEqual(hear(machine, Buffer.concat([serverPreamble, frame({ ...greeting, syncerType: "" })])), ["hello"]);
});

const restarts: { name: string; hello?: Partial<ClientOptions["hello"]>; to: string; problem: string }[] = [
  {
    name: "a plain restart where none was offered",
    hello: { supportsDecoderRestart: false, supportedCompressionAlgorithms: [] },
    to: "",
    problem: "server restarts the decoder, which was not offered",
  },
  {
    name: "a compressed restart where none was offered",
    hello: { supportsDecoderRestart: false },
    to: "snappy",
    problem: 'server restarts the decoder with compression "snappy", which was not offered',
  },
  {
    name: "a compression nobody knows",
    to: "brotli",
    problem: 'server restarts the decoder with compression "brotli", which was not offered',
  },
];
for (const { name, hello, to, problem } of restarts) {
  test(`says what was wrong with ${name}`, () => {
    const [, event] = client(hello === undefined ? {} : { hello }).receive(plain(restartTo(to)), 0);
    equal(event?.is === "close" ? event.why.problem : "", problem);
  });
}

test("silence closes, messages and nothing less move the deadline", () => {
  const machine = client();
  equal(machine.deadlineMs, 30_000);
  machine.receive(serverPreamble, 5_000);
  equal(machine.deadlineMs, 30_000);
  machine.receive(frame(greeting), 6_000);
  equal(machine.deadlineMs, 36_000);
  deepEqual(machine.tick(35_999), []);
  const [event] = machine.tick(36_000);
  deepEqual(event?.is === "close" ? [event.why.code, event.why.problem] : [], [
    "WIRE_READ_TIMEOUT",
    "no whole message from the server for 30000 ms",
  ]);
});

test("the end of the connection closes once", () => {
  const machine = client();
  const [event] = machine.end();
  equal(event?.is === "close" ? event.why.problem : "", "server closed the connection before its hello");
  deepEqual(machine.end(), []);
});

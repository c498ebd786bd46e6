// Broken and hostile streams into the snappy decoder and both machines: cut, flipped, doubled, shuffled and made up.
// Whatever comes, the answer is an orderly one, it is the same for every split of the bytes, and the end is the end.
//   CATTAIL_FUZZ_CASES=1000000 CATTAIL_SEED=7 node tools/run-tests.ts wire-fuzz
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { compressChunks, SnappyDecoder, SnappyError, streamIdentifier } from "../../src/base/snappy/index.ts";
import {
  ClientMachine,
  clientFrame,
  clientPreamble,
  encodeUpdate,
  frame,
  kvsMessage,
  type ServerStream,
  serverPreamble,
  snappyStream,
  zstdStream,
} from "../../src/typha/wire/index.ts";
import { clientHello } from "../kit/client-hello.ts";
import { type Random, seededRandom, testSeed } from "../kit/random.ts";
import { serverMachine } from "../kit/server-machine.ts";

const cases = Number(process.env.CATTAIL_FUZZ_CASES ?? 2000);
const seed = testSeed();

const captures = ["felix-modern-compressed", "felix-no-compression", "bgp-modern-compressed"];
const sent = captures.map((name) => readFileSync(`test/vectors/wire/${name}.sent.bin`));
const received = captures.map((name) => readFileSync(`test/vectors/wire/${name}.recv.bin`));
const update = encodeUpdate({ path: "/a", value: "1".repeat(50), revision: "2", v3ResourceVersion: "3", type: 1 });
const hello = { ...clientHello, supportedCompressionAlgorithms: ["zstd", "snappy"] };
const ours = Buffer.concat([
  clientPreamble,
  clientFrame({ is: "clientHello", ...hello }),
  clientFrame({ is: "ack" }),
  clientFrame({ is: "ack" }),
]);
const zstd = zstdStream((plain) => zstdCompressSync(plain));
const greeting = Buffer.concat([
  serverPreamble,
  frame({ is: "serverHello", version: "", syncerType: "felix", supportsNodeResourceUpdates: true, serverConnId: 1n }),
]);
const conversation = (stream: ServerStream): Buffer => {
  const restart = frame({ is: "decoderRestart", message: "", compressionAlgorithm: stream.compression });
  const snapshot = [stream.opening, stream.pack(kvsMessage([update, update])), stream.snapshotClosing];
  const live = [
    stream.opening,
    stream.pack(frame({ is: "syncStatus", syncStatus: 2 })),
    stream.pack(kvsMessage([update])),
  ];
  return Buffer.concat([greeting, restart, ...snapshot, ...live]);
};

const subjects: { name: string; streams: Uint8Array[]; outcome: (parts: readonly Uint8Array[]) => Outcome }[] = [
  {
    name: "the snappy decoder",
    streams: [
      Buffer.concat([
        streamIdentifier,
        compressChunks(Buffer.from("hello ".repeat(50))),
        compressChunks(Buffer.from("x")),
      ]),
      received[0]?.subarray(427) ?? Buffer.alloc(0),
    ],
    outcome: throughSnappy,
  },
  { name: "the server machine", streams: [...sent, ours], outcome: throughServer },
  {
    name: "the client machine",
    streams: [...received, conversation(snappyStream), conversation(zstd)],
    outcome: throughClient,
  },
];

for (const { name, streams, outcome } of subjects) {
  test(`${name} answers ${cases} broken streams, each the same in every split`, () => {
    const random = seededRandom(seed);
    let refused = 0;
    for (let index = 0; index < cases; index += 1) {
      const bytes = damage(random.pick(streams), random);
      const whole = outcome([bytes]);
      const inParts = outcome(split(bytes, random));
      deepEqual(inParts, whole, `case ${index} of seed ${seed}: ${Buffer.from(bytes).toString("hex")}`);
      if (whole.end !== undefined) refused += 1;
    }
    ok(
      refused > cases / 10,
      `seed ${seed}: only ${refused} of ${cases} were refused: the damage is too small to mean anything`,
    );
  });
}

type Outcome = { answers: string[]; end: string | undefined };

function throughSnappy(parts: readonly Uint8Array[]): Outcome {
  const decoder = new SnappyDecoder();
  const plain: Uint8Array[] = [];
  let end: string | undefined;
  try {
    for (const part of parts) {
      decoder.feed(part);
      for (let chunk = decoder.next(); chunk !== undefined; chunk = decoder.next()) plain.push(chunk.slice());
    }
    if (decoder.rest().length > 0) end = "the stream ends inside a chunk";
  } catch (error) {
    if (!(error instanceof SnappyError)) throw error;
    end = error.code;
  }
  return { answers: [Buffer.concat(plain).toString("hex")], end };
}

function throughServer(parts: readonly Uint8Array[]): Outcome {
  const machine = serverMachine();
  const answers: string[] = [];
  let end: string | undefined;
  for (const part of parts) {
    let decisions = machine.receive(part, 0);
    if (end !== undefined) equal(decisions.length, 0, "a closed machine decided something");
    while (decisions.length > 0) {
      for (const decision of decisions) {
        if (decision.do === "close") end = decision.why.code;
        else answers.push(decision.do);
      }
      decisions = decisions.some((decision) => decision.do === "startSnapshot") ? machine.snapshotWritten(0) : [];
    }
  }
  return { answers, end };
}

function throughClient(parts: readonly Uint8Array[]): Outcome {
  const zstdDecompress = (bytes: Uint8Array, maxOutputLength: number) => zstdDecompressSync(bytes, { maxOutputLength });
  const machine = new ClientMachine({ hello, zstdDecompress, maxMessageBytes: 1 << 20 }, 0);
  const answers: string[] = [];
  let end: string | undefined;
  for (const part of parts) {
    for (const event of machine.receive(part, 0)) {
      equal(end, undefined, "a closed machine said something");
      if (event.is === "close") end = event.why.code;
      else if (event.is === "updates") answers.push(`updates ${event.updates.map(({ key }) => key).join()}`);
      else answers.push(event.is);
    }
  }
  return { answers, end };
}

function damage(stream: Uint8Array, random: Random): Uint8Array {
  if (random.below(20) === 0) return Uint8Array.from({ length: random.below(300) }, () => random.below(256));
  let bytes = Buffer.from(stream);
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = random.below(bytes.length);
    const length = random.below(40);
    switch (random.below(6)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
        break;
      case 5: {
        const noise = Uint8Array.from({ length }, () => random.below(256));
        bytes = Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
      }
    }
    if (bytes.length === 0) break;
  }
  return bytes;
}

function split(bytes: Uint8Array, random: Random): Uint8Array[] {
  const parts: Uint8Array[] = [];
  const most = random.pick([1, 3, 20, 200, 2000]);
  for (let at = 0; at < bytes.length; ) {
    const next = at + 1 + random.below(most);
    parts.push(bytes.subarray(at, next));
    at = next;
  }
  return parts;
}

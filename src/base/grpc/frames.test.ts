import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { FrameReader, frame } from "./frames.ts";
import { GrpcError, grpcStatus } from "./status.ts";

const messages = ["", "a", "x".repeat(300), "", "end"].map((text) => Buffer.from(text));
const stream = Buffer.concat(messages.map(frame));

for (const size of [1, 2, 4, 5, 6, 7, 100, stream.length]) {
  test(`messages in chunks of ${size} bytes are whole and in order`, () => {
    const reader = new FrameReader(1000);
    const found: string[] = [];
    for (let at = 0; at < stream.length; at += size) {
      reader.read(stream.subarray(at, at + size), (message) => found.push(message.toString()));
    }
    deepEqual(found, messages.map(String));
  });
}

test("a large message in many chunks is put together once", () => {
  const reader = new FrameReader(64 << 20);
  const large = frame(Buffer.alloc(32 << 20, 7));
  const found: number[] = [];
  // Put together anew with every chunk, this would copy 64 GB.
  for (let at = 0; at < large.length; at += 8192) {
    reader.read(large.subarray(at, at + 8192), (message) => found.push(message.length));
  }
  deepEqual(found, [32 << 20]);
});

test("a message beyond the limit is refused by its length, before it has come", () => {
  const reader = new FrameReader(10);
  const head = frame(Buffer.alloc(11)).subarray(0, 5);
  throws(
    () => reader.read(head, () => undefined),
    isError(grpcStatus.resourceExhausted, /larger than max \(11 vs\. 10\)/),
  );
});

test("a compressed message is refused: we never offered to read one", () => {
  const reader = new FrameReader(10);
  throws(() => reader.read(Buffer.from([1, 0, 0, 0, 0]), () => undefined), isError(grpcStatus.internal, /compressed/));
});

function isError(code: number, says: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof GrpcError && error.code === code && says.test(error.message);
}

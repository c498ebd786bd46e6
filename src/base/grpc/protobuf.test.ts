// protobuf's wire format: what is written is read again, and bytes that are no message are refused.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProtobufError, ProtobufReader, type ProtobufValue, protobuf } from "./protobuf.ts";

const number = fc.integer({ min: 1, max: 2 ** 29 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("numbers, texts and bytes are read as they were written, whatever comes between", () => {
  const fields = fc.array(
    fc.oneof(
      fc.record({ number, is: fc.constant("int64" as const), value: int64 }),
      fc.record({ number, is: fc.constant("text" as const), value: fc.string({ unit: "grapheme" }) }),
      fc.record({ number, is: fc.constant("bytes" as const), value: fc.uint8Array() }),
      fc.record({ number, is: fc.constant("skipped" as const), value: fc.oneof(int64, fc.string()) }),
    ),
  );
  fc.assert(
    fc.property(fields, (written) => {
      const reader = new ProtobufReader(
        protobuf(written.map(({ number, value }): [number, ProtobufValue] => [number, value])),
      );
      for (const { number, is, value } of written) {
        equal(reader.field(), number);
        if (is === "int64") equal(reader.int64(), String(value));
        else if (is === "text") equal(reader.text(), value);
        else if (is === "bytes") deepEqual(Uint8Array.from(reader.bytes()), value);
        else reader.skip();
      }
      equal(reader.field(), 0);
    }),
  );
});

test("fields that nobody asks for are passed over, whatever their type", () => {
  const strange = Buffer.concat([
    protobuf([[100, 2n ** 63n]]), // varint
    Buffer.from([((101 << 3) & 127) | 128 | 1, (101 << 3) >> 7, 1, 2, 3, 4, 5, 6, 7, 8]), // eight bytes
    protobuf([[102, "text"]]),
    Buffer.from([((103 << 3) & 127) | 128 | 5, (103 << 3) >> 7, 1, 2, 3, 4]), // four bytes
  ]);
  equal(readAll(Buffer.concat([strange, protobuf([[3, true]]), strange])).known, true);
});

const refusals: { name: string; bytes: number[]; says: RegExp }[] = [
  { name: "a field with the number 0", bytes: [0], says: /number 0/ },
  { name: "a group, which nobody writes any more", bytes: [0x2b], says: /wire type 3/ },
  { name: "a number where a message is due", bytes: [0x08, 1], says: /wire type 0, not 2/ },
  { name: "a message longer than what is there", bytes: [0x0a, 5, 1], says: /middle of a field/ },
  { name: "a number without an end", bytes: [0x18, 0x80], says: /middle of a number/ },
  { name: "a length beyond anything", bytes: [0x0a, ...Array(9).fill(0xff), 1], says: /too large/ },
  {
    name: "an int64 of eleven bytes",
    bytes: [0x0a, 12, 0x18, ...Array(10).fill(0xff), 1],
    says: /more than ten bytes/,
  },
];
for (const { name, bytes, says } of refusals) {
  test(`${name} is refused`, () => {
    throws(
      () => readAll(Buffer.from(bytes)),
      (error) => error instanceof ProtobufError && says.test(error.message),
    );
  });
}

test("a message within another ends where it says, not where the bytes end", () => {
  const reader = new ProtobufReader(Buffer.from([0x0a, 1, 0x18, 5]));
  equal(reader.field(), 1);
  throws(() => reader.message((inner) => inner.field() && inner.int64()), ProtobufError);
});

/** Field 1 is a message whose field 3 is an int64; field 3 is a boolean. */
function readAll(bytes: Buffer): { inner: string; known: boolean } {
  const reader = new ProtobufReader(bytes);
  let inner = "";
  let known = false;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) inner = reader.message((within) => (within.field() === 3 ? within.int64() : ""));
    else if (field === 3) known = reader.bool();
    else reader.skip();
  }
  return { inner, known };
}

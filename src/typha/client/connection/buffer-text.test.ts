import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bufferMemory, bufferText } from "./buffer-text.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes that are nearly UTF-8: characters of every length, and pieces of them. */
const nearlyUtf8 = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc
        .constantFrom(...["efbbbf", "c3", "e282", "f09f92", "eda080", "c080", "f5808080", "ff", "80", "7f"])
        .map(fromHex),
    ),
  )
  .map((parts) => Buffer.concat(parts));

function fromHex(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}

test("Buffer's text is TextDecoder's, whatever the bytes", () => {
  fc.assert(
    fc.property(nearlyUtf8, fc.nat(8), (bytes, start) => {
      const from = Math.min(start, bytes.length);
      equal(bufferText(new Uint8Array(bytes), from, bytes.length), utf8.decode(bytes.subarray(from)));
    }),
    { numRuns: 2000 },
  );
});

test("text is read from any memory, and from any part of it", () => {
  const memory = new Uint8Array([0x61, 0x62, 0x63, 0x64]);
  equal(bufferText(memory, 0, 2), "ab");
  equal(bufferText(memory.subarray(2), 0, 2), "cd");
  equal(bufferText(Uint8Array.of(0x65), 0, 1), "e");
  const own = bufferMemory(3);
  own.set([0x66, 0xc3, 0xbc]);
  equal(bufferText(own, 1, 3), "ü");
});

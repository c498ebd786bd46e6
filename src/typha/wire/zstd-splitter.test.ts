// Where zstd frames end, by their headers alone.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ZstdSplitter } from "./zstd-splitter.ts";

const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag } = constants;
const noise = Uint8Array.from({ length: 300_000 }, (_, index) => (index * index * 31 + (index >> 3) * 7) % 251);
const frames: { name: string; frame: Uint8Array }[] = [
  { name: "nothing", frame: zstdCompressSync("") },
  { name: "a few bytes", frame: zstdCompressSync("hello hello hello") },
  { name: "one byte over and over", frame: zstdCompressSync(Buffer.alloc(400_000, 1)) },
  { name: "several blocks", frame: zstdCompressSync(noise) },
  { name: "a checksum", frame: zstdCompressSync("sum", { params: { [ZSTD_c_checksumFlag]: 1 } }) },
  { name: "no content size", frame: zstdCompressSync("size", { params: { [ZSTD_c_contentSizeFlag]: 0 } }) },
  { name: "content of more than 64 KiB", frame: zstdCompressSync(noise.subarray(0, 70_000)) },
];
const skippable = Uint8Array.of(0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9);

for (const { name, frame } of frames) {
  for (const step of [1, 7, 4096, 1 << 20]) {
    if (step === 1 && frame.length > 10_000) continue;
    test(`finds the end of a frame with ${name}, ${step} bytes at a time`, () => {
      const stream = Buffer.concat([frame, skippable, frame, frame]);
      const found = splitInSteps(stream, step);
      deepEqual(
        found.map((one) => Buffer.from(one)),
        [frame, frame, frame].map((one) => Buffer.from(one)),
      );
      deepEqual(zstdDecompressSync(found[1] ?? frame), zstdDecompressSync(frame));
    });
  }
}

test("half a frame is waited for, and is the rest", () => {
  const splitter = new ZstdSplitter(1000);
  const [whole = new Uint8Array(0)] = frames.slice(1).map(({ frame }) => frame);
  splitter.feed(whole.subarray(0, whole.length - 1));
  equal(splitter.next(), undefined);
  equal(splitter.rest().length, whole.length - 1);
});

const bad: { name: string; bytes: Uint8Array }[] = [
  { name: "what is no zstd", bytes: Buffer.from("GET / HTTP/1.1") },
  {
    name: "a block type that does not exist",
    bytes: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x01, 0x06, 0x00, 0x00),
  },
  { name: "a block beyond 128 KiB", bytes: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x01, 0x00, 0x00, 0xff) },
  { name: "a frame beyond the limit", bytes: zstdCompressSync(noise) },
  { name: "a skippable frame of 4 GiB", bytes: Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff) },
];
for (const { name, bytes } of bad) {
  test(`refuses ${name}`, () => {
    const splitter = new ZstdSplitter(1000);
    splitter.feed(bytes);
    throws(() => splitter.next(), { name: "ZstdError" });
  });
}

function splitInSteps(stream: Uint8Array, step: number): Uint8Array[] {
  const splitter = new ZstdSplitter(1 << 20);
  const found: Uint8Array[] = [];
  for (let at = 0; at < stream.length; at += step) {
    splitter.feed(stream.subarray(at, at + step));
    for (let frame = splitter.next(); frame !== undefined; frame = splitter.next()) found.push(frame.slice());
  }
  return found;
}

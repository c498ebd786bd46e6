// Our own way to open a block and the native codec's agree on every block, good or bent.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compressSync } from "snappy";
import { blockOpener, openNatively, wasmOpener } from "./block.ts";
import { maxBodyBytes, maxContentBytes } from "./format.ts";

const byWasm = wasmOpener();
ok(byWasm !== undefined, "Node has WebAssembly");

/** Text as snapshots have it: much of it again and again, from near and far. */
const content = fc
  .array(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom("a", "ab", '{"name":"node-1",', "0".repeat(70))), {
    maxLength: 60,
  })
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));

function headerOf(contentBytes: number): number[] {
  return contentBytes < 0x80 ? [contentBytes] : [(contentBytes & 0x7f) | 0x80, ...headerOf(contentBytes >>> 7)];
}

function agree(elements: Uint8Array, contentBytes: number): Uint8Array | undefined {
  const header = headerOf(contentBytes);
  const block = Buffer.concat([Uint8Array.from(header), elements]);
  const ours = byWasm?.(block, header.length, contentBytes)?.slice();
  const theirs = openNatively(block);
  deepEqual(ours === undefined ? undefined : Buffer.from(ours), theirs === undefined ? undefined : Buffer.from(theirs));
  return ours;
}

test("opens what the native codec packs", () => {
  fc.assert(
    fc.property(content, (plain) => {
      const block = compressSync(plain);
      deepEqual(agree(block.subarray(headerOf(plain.length).length), plain.length), new Uint8Array(plain));
    }),
    { numRuns: 500 },
  );
});

test("agrees with the native codec on blocks with bytes changed, cut or claimed otherwise", () => {
  const change = fc.record({ at: fc.nat(300), by: fc.integer({ min: 1, max: 255 }) });
  fc.assert(
    fc.property(content, fc.array(change, { maxLength: 4 }), fc.nat(5), (plain, changes, cut) => {
      const elements = Buffer.from(compressSync(plain).subarray(headerOf(plain.length).length));
      for (const { at, by } of changes) if (at < elements.length) elements[at] = (elements[at] ?? 0) ^ by;
      agree(elements, plain.length);
      agree(elements.subarray(0, Math.max(0, elements.length - cut)), plain.length);
      agree(elements, plain.length + cut);
    }),
    { numRuns: 3000 },
  );
});

test("agrees with the native codec on elements that nobody wrote", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(300), (elements, contentBytes) => {
      agree(elements, contentBytes);
    }),
    { numRuns: 5000 },
  );
});

const handmade: { name: string; elements: number[]; contentBytes: number; isGood: boolean }[] = [
  { name: "a copy of what it writes", elements: [0, 97, 0xfd, 1], contentBytes: 1, isGood: false },
  { name: "one byte over and over", elements: [0, 97, (63 << 2) | 2, 1, 0], contentBytes: 65, isGood: true },
  {
    name: "a copy from four bytes of distance",
    elements: [0, 97, (9 << 2) | 3, 1, 0, 0, 0],
    contentBytes: 11,
    isGood: true,
  },
  { name: "a copy from nowhere", elements: [0, 97, (9 << 2) | 2, 0, 0], contentBytes: 11, isGood: false },
  { name: "a copy from before the beginning", elements: [0, 97, (9 << 2) | 2, 2, 0], contentBytes: 11, isGood: false },
  { name: "a copy from 4 GiB back", elements: [0, 97, 3, 255, 255, 255, 255], contentBytes: 2, isGood: false },
  { name: "a literal of 4 GiB", elements: [63 << 2, 255, 255, 255, 255, 97], contentBytes: 1, isGood: false },
  { name: "a literal with a length of four bytes", elements: [63 << 2, 0, 0, 0, 0, 97], contentBytes: 1, isGood: true },
  { name: "a literal whose length is cut", elements: [62 << 2, 0, 0], contentBytes: 1, isGood: false },
  { name: "a literal that is cut", elements: [2 << 2, 97, 97], contentBytes: 3, isGood: false },
  { name: "a literal beyond what was claimed", elements: [1 << 2, 97, 97], contentBytes: 1, isGood: false },
  { name: "a copy beyond what was claimed", elements: [0, 97, (9 << 2) | 2, 1, 0], contentBytes: 10, isGood: false },
  { name: "less than was claimed", elements: [0, 97], contentBytes: 2, isGood: false },
  { name: "nothing", elements: [], contentBytes: 0, isGood: true },
];
for (const { name, elements, contentBytes, isGood } of handmade) {
  test(`${isGood ? "opens" : "refuses"} ${name}`, () => {
    equal(agree(Uint8Array.from(elements), contentBytes) !== undefined, isGood);
  });
}

test("opens the largest block there is, right after which comes the next", () => {
  const plain = Buffer.from(Array.from({ length: maxContentBytes }, (_, index) => (index * index) % 251));
  const open = blockOpener();
  const block = Buffer.concat([Uint8Array.from([...headerOf(plain.length), 61 << 2, 255, 255]), plain]);
  for (let round = 0; round < 2; round += 1) deepEqual(Buffer.from(open(block, 3, plain.length) ?? []), plain);
});

test("takes no block that is too long for its memory, and no claim", () => {
  equal(byWasm?.(new Uint8Array(maxBodyBytes + 1), 1, 1), undefined);
  equal(byWasm?.(Uint8Array.of(0, 97), 0, maxContentBytes + 1), undefined);
});

// What golang/snappy writes and reads, ours writes and reads alike: test/vectors/snappy, made by the program beside it.
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toHex, vectorBytes } from "../../../test/kit/vector-bytes.ts";
import { compressChunks, SnappyDecoder, SnappyError, streamIdentifier } from "./index.ts";

type Vectors = {
  written: { name: string; parts: string[]; stream: string }[];
  read: { name: string; stream: string; verdict: "ok" | "corrupt" | "unsupported"; plain: string }[];
};
const vectors: Vectors = JSON.parse(readFileSync("test/vectors/snappy/vectors.json", "utf8"));

for (const { name, parts, stream } of vectors.written) {
  test(`writes as Go does: ${name}`, () => {
    const chunks = parts.map((part) => compressChunks(vectorBytes(part)));
    equal(toHex(Buffer.concat([streamIdentifier, ...chunks])), toHex(vectorBytes(stream)));
  });
}

// Go has two verdicts where we say which rule was broken.
const verdictOf: Record<string, "corrupt" | "unsupported"> = {
  SNAPPY_UNSUPPORTED_CHUNK: "unsupported",
  SNAPPY_CHUNK_TOO_LONG: "unsupported",
};

for (const { name, stream, verdict, plain } of vectors.read) {
  for (const step of [Number.POSITIVE_INFINITY, 1, 7, 1000]) {
    // One byte at a time through 64 KiB says nothing that the short streams do not.
    const bytes = vectorBytes(stream);
    if (bytes.length > 10_000 && step < 1000) continue;
    test(`reads as Go does, ${step} bytes at a time: ${name}`, () => {
      const outcome = readInSteps(bytes, step);
      equal(verdictOn(outcome), verdict);
      equal(toHex(outcome.plain), toHex(vectorBytes(plain)));
    });
  }
}

// A stream that is cut is corrupt to Go, which knows where it ends; here the rest of a chunk may yet come.
function verdictOn({ error, rest }: Outcome): string {
  if (error === undefined) return rest === 0 ? "ok" : "corrupt";
  return verdictOf[error.code] ?? "corrupt";
}

const codes: { name: string; code: string }[] = [
  { name: "no identifier", code: "SNAPPY_NO_IDENTIFIER" },
  { name: "padding before the identifier", code: "SNAPPY_NO_IDENTIFIER" },
  { name: "an identifier of five bytes", code: "SNAPPY_BAD_IDENTIFIER" },
  { name: "a bad second identifier", code: "SNAPPY_BAD_IDENTIFIER" },
  { name: "a reserved type that may not be skipped", code: "SNAPPY_UNSUPPORTED_CHUNK" },
  { name: "padding one byte longer is not", code: "SNAPPY_CHUNK_TOO_LONG" },
  { name: "a chunk of the longest length that is not there", code: "SNAPPY_CHUNK_TOO_LONG" },
  { name: "a plain chunk without room for its checksum", code: "SNAPPY_CHUNK_TOO_SHORT" },
  { name: "a plain chunk one byte longer", code: "SNAPPY_CONTENT_TOO_LONG" },
  { name: "a packed chunk one byte longer", code: "SNAPPY_CONTENT_TOO_LONG" },
  { name: "a packed chunk that claims 4 GiB", code: "SNAPPY_CONTENT_TOO_LONG" },
  { name: "a packed chunk whose length never ends", code: "SNAPPY_BAD_BLOCK" },
  { name: "a copy from before the beginning", code: "SNAPPY_BAD_BLOCK" },
  { name: "a packed chunk with a wrong checksum", code: "SNAPPY_BAD_CHECKSUM" },
];
for (const { name, code } of codes) {
  test(`says ${code} to: ${name}`, () => {
    const vector = vectors.read.find((row) => row.name === name);
    ok(vector !== undefined);
    equal(readInSteps(vectorBytes(vector.stream), 64).error?.code, code);
  });
}

test("a decoder that has failed keeps failing", () => {
  const decoder = new SnappyDecoder();
  decoder.feed(Uint8Array.of(1, 5, 0, 0));
  throws(() => decoder.next(), SnappyError);
  throws(() => decoder.next(), { code: "SNAPPY_NO_IDENTIFIER" });
});

test("a reader may stop after a chunk and take the rest of what it fed", () => {
  const second = Buffer.concat([streamIdentifier, compressChunks(Buffer.from("second stream"))]);
  const decoder = new SnappyDecoder();
  decoder.feed(Buffer.concat([streamIdentifier, compressChunks(Buffer.from("first")), second]));
  equal(Buffer.from(decoder.next() ?? []).toString(), "first");
  equal(toHex(decoder.rest()), toHex(second));
});

test("the rest includes the beginning of a chunk that was held", () => {
  const decoder = new SnappyDecoder();
  const stream = Buffer.concat([streamIdentifier, compressChunks(Buffer.from("first"))]);
  decoder.feed(stream.subarray(0, stream.length - 2));
  equal(decoder.next(), undefined);
  decoder.feed(stream.subarray(stream.length - 2, stream.length - 1));
  equal(decoder.next(), undefined);
  equal(toHex(decoder.rest()), toHex(stream.subarray(streamIdentifier.length, stream.length - 1)));
});

test("no bytes give no chunks", () => {
  deepEqual(compressChunks(new Uint8Array(0)), new Uint8Array(0));
});

type Outcome = { plain: Uint8Array; rest: number; error?: SnappyError };

function readInSteps(bytes: Uint8Array, step: number): Outcome {
  const decoder = new SnappyDecoder();
  const plain: Uint8Array[] = [];
  try {
    for (let at = 0; at < bytes.length; at += step) {
      decoder.feed(bytes.subarray(at, Math.min(at + step, bytes.length)));
      for (let chunk = decoder.next(); chunk !== undefined; chunk = decoder.next()) plain.push(chunk.slice());
    }
    return { plain: Buffer.concat(plain), rest: decoder.rest().length };
  } catch (error) {
    if (!(error instanceof SnappyError)) throw error;
    return { plain: Buffer.concat(plain), rest: 0, error };
  }
}

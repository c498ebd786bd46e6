// Every field that says how long something is, at every power of two and its neighbours: what it announces is there, or the
// answer is an error with a code; and nothing is set aside for what is only announced.
import { ok } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  bytes,
  decoder,
  encoder,
  GobError,
  int,
  map,
  type Schema,
  slice,
  string,
  struct,
} from "../../src/base/gob/index.ts";
import { SnappyDecoder, SnappyError, streamIdentifier } from "../../src/base/snappy/index.ts";

const lengths = [
  ...new Set(
    Array.from({ length: 65 }, (_, power) => 2n ** BigInt(power)).flatMap((power) => [power - 1n, power, power + 1n]),
  ),
].filter((length) => length < 2n ** 64n);
const follows = Buffer.alloc(64, 2); // some bytes, so that short lengths are right ones

/** As gob writes an unsigned number: small ones in a byte, others behind their length, negated. */
function uint(value: bigint): Buffer {
  if (value < 128n) return Buffer.of(Number(value));
  const hex = value.toString(16);
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return Buffer.concat([Buffer.of(256 - digits.length), digits]);
}

const fields: { [name: string]: Schema<unknown> } = {
  string: struct("T", { F: string() }),
  bytes: struct("T", { F: bytes() }),
  "slice of numbers": struct("T", { F: slice(int()) }),
  "slice of strings": struct("T", { F: slice(string()) }),
  "slice of empty structs": struct("T", { F: slice(struct("E", {})) }),
  map: struct("T", { F: map(string(), int()) }),
};

/** The type's number, as the first message of its own encoder has it after the frame's length. */
function typeNumber(schema: Schema<unknown>, value: unknown): Buffer {
  const message = encoder(schema).message(value);
  return Buffer.from(message.subarray(1, message[1] === undefined || message[1] < 128 ? 2 : 3 + (255 - message[1])));
}

describe("gob", () => {
  for (const [name, schema] of Object.entries(fields)) {
    test(`a ${name} of announced length`, () => {
      const small = {
        F: name === "map" ? new Map() : name === "string" ? "" : name === "bytes" ? new Uint8Array() : [],
      };
      for (const length of lengths) {
        const body = Buffer.concat([typeNumber(schema, small), Buffer.of(1), uint(length), follows]);
        judged(() => decode(schema, Buffer.concat([uint(BigInt(body.length)), body])), `${length}`);
      }
    });
  }

  test("a frame of announced length", () => {
    for (const length of lengths)
      judged(() => decode(fields.string as Schema<unknown>, Buffer.concat([uint(length), follows])), `${length}`);
  });

  test("a type of announced number, and a field that many further on", () => {
    const schema = fields.string as Schema<unknown>;
    for (const length of lengths) {
      for (const body of [
        Buffer.concat([uint(length), follows]),
        Buffer.concat([typeNumber(schema, { F: "" }), uint(length), follows]),
      ]) {
        judged(() => decode(schema, Buffer.concat([uint(BigInt(body.length)), body])), `${length}`);
      }
    }
  });
});

describe("snappy", () => {
  for (const kind of [0x00, 0x01, 0x80, 0xfe, 0xff]) {
    test(`a chunk of kind ${kind} and announced length`, () => {
      for (const length of lengths.filter((each) => each < 2n ** 24n)) {
        const header = Buffer.alloc(4);
        header.writeUInt32LE(Number(length));
        header.copyWithin(1, 0, 3);
        header[0] = kind;
        const decoder = new SnappyDecoder();
        judged(() => {
          decoder.feed(Buffer.concat([streamIdentifier, header, follows]));
          for (let chunks = 0; chunks < 100 && decoder.next() !== undefined; chunks += 1);
        }, `${length}`);
      }
    });
  }
});

function decode(schema: Schema<unknown>, stream: Buffer): void {
  const reader = decoder(schema);
  reader.push(encoder(schema).preamble());
  reader.push(stream);
}

/** Ends well or with an error of ours, and without having set aside what was announced. */
function judged(work: () => void, length: string): void {
  const before = process.memoryUsage().arrayBuffers;
  try {
    work();
  } catch (error) {
    ok(error instanceof GobError || error instanceof SnappyError, `length ${length}: ${error}`);
  }
  const grown = process.memoryUsage().arrayBuffers - before;
  ok(grown < 8 << 20, `length ${length}: ${grown} bytes were set aside`);
}

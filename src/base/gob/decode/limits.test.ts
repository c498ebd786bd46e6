// What a hostile peer can send, and what it gets: an error with a code and an offset, soon and cheaply.
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  array,
  bytes,
  decoder,
  encoder,
  float,
  GobError,
  type GobErrorCode,
  type GobLimits,
  gobErrorCodes,
  int,
  interface_,
  lazy,
  made,
  map,
  pointer,
  raw,
  type Schema,
  slice,
  string,
  struct,
  time,
  uint,
} from "../index.ts";

type List = { Value: number; Next: List | null };
const List: Schema<List> = struct("List", { Value: int(), Next: pointer(lazy<List>(() => List)) });
const Point = struct("Point", { X: int(), Y: int() });
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

/** Frames with their lengths in front, from bodies in hex. */
function frames(...bodies: string[]): Uint8Array {
  return Buffer.concat(
    bodies.map((body) => {
      const bytes = hex(body);
      const { length } = bytes;
      return Buffer.concat([length < 128 ? Uint8Array.of(length) : Uint8Array.of(0xfe, length >> 8, length), bytes]);
    }),
  );
}

// Type 65 is struct { X, Y int }.
const definePoint = "ff81 03 02 02 01 01 58 01 04 00 01 01 59 01 04 00 00 00";
const somePoint = "ff82 01 06 01 08 00";
// Type 65 has a field of type 66, a map from 67 to 67, an empty struct.
const defineMaps = ["ff81 03 02 01 01 01 5a 01 ff84 00 00 00", "ff83 04 02 ff86 01 ff86 00 00", "ff85 03 00 00"];

// Type 65 is a slice of type 66, a struct without fields.
const defineBlocks = ["ff81 02 02 ff84 00 00", "ff83 03 00 00"];

/** A value of it: each struct is a byte. */
function manyBlocks(count: number): string {
  return `ff82 00 fe ${count.toString(16).padStart(4, "0")} ${"00".repeat(count)}`;
}

function listOf(length: number): Uint8Array {
  let list: List | null = null;
  for (let i = 0; i < length; i++) list = { Value: i + 1, Next: list };
  return encoder(List).encode(list ?? { Value: 0, Next: null });
}

/** Definitions of empty structs under ids from 65 on. */
function definitions(count: number): Uint8Array {
  const bodies = Array.from({ length: count }, (_, i) => {
    const id = (65 + i) * 2 - 1;
    return id < 0x100 ? `ff${id.toString(16)} 03 00 00` : `fe0${id.toString(16)} 03 00 00`;
  });
  return frames(...bodies);
}

type Refusal = {
  name: string;
  schema: Schema<unknown>;
  bytes: Uint8Array;
  code: GobErrorCode;
  limits?: Partial<GobLimits>;
};

const refusals: Refusal[] = [
  { name: "a frame longer than a message may be", schema: Point, bytes: hex("fc 00100001"), code: "GOB_LIMIT_MESSAGE" },
  { name: "a frame of 2^63 bytes", schema: Point, bytes: hex("f8 8000000000000000"), code: "GOB_LIMIT_MESSAGE" },
  {
    name: "definitions and value together longer than a message may be",
    schema: Point,
    bytes: frames(definePoint, somePoint),
    limits: { messageBytes: 24 },
    code: "GOB_LIMIT_MESSAGE",
  },
  { name: "one type too many", schema: Point, bytes: definitions(65), code: "GOB_LIMIT_TYPES" },
  { name: "a list nested too deep", schema: List, bytes: listOf(33), code: "GOB_LIMIT_DEPTH" },
  {
    name: "a list nested deeper than the stack, where the limit allows it",
    schema: List,
    bytes: deepList(400_000),
    limits: { depth: 1e9, messageBytes: 1e9 },
    code: "GOB_LIMIT_DEPTH",
  },
  {
    name: "a struct of too many fields",
    schema: Point,
    bytes: frames(definePoint),
    limits: { fields: 1 },
    code: "GOB_LIMIT_FIELDS",
  },
  {
    name: "a field twice",
    schema: Point,
    bytes: frames("ff81 03 02 02 01 01 58 01 04 00 01 01 58 01 04 00 00 00"),
    code: "GOB_DUPLICATE_FIELD",
  },
  {
    name: "a slice of 2^40 elements",
    schema: slice(Point),
    bytes: frames("ff81 02 02 ff84 00 00", definePoint.replace("ff81", "ff83"), "ff82 00 fa 010000000000"),
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "a map of 2^40 keys that Go would count for ever, in a field we lack",
    schema: struct("Other", {}),
    bytes: frames(...defineMaps, "ff82 01 fa 010000000000 00"),
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "a map of 1000 keys without a byte for them, in a field we lack",
    schema: struct("Other", {}),
    bytes: frames(...defineMaps, "ff82 01 fe 03e8"),
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "a million empty structs in a megabyte",
    schema: slice(Point),
    bytes: manyPoints(1_000_000),
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "twenty thousand structs that leave out an array of a thousand",
    schema: slice(struct("Block", { Hash: array(uint({ bits: 16 }), 1024) })),
    bytes: frames(...defineBlocks, manyBlocks(20_000)),
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "structs that leave out a struct with arrays of arrays",
    schema: slice(struct("Block", { Inner: struct("Inner", { Rows: array(array(int(), 10), 10) }) })),
    bytes: frames(...defineBlocks, manyBlocks(3)),
    limits: { elements: 3 + 110 + 110 },
    code: "GOB_LIMIT_ELEMENTS",
  },
  {
    name: "made structs that leave out an array",
    schema: slice(made(struct("Block", { Hash: array(int(), 100) }), ["Hash"], ([hash]) => hash)),
    bytes: frames(...defineBlocks, manyBlocks(3)),
    limits: { elements: 3 + 200 },
    code: "GOB_LIMIT_ELEMENTS",
  },
  { name: "a type id of 40 bits", schema: Point, bytes: frames("fa 020000000000 00"), code: "GOB_LIMIT_TYPE_ID" },
  {
    name: "a time with two billion nanoseconds",
    schema: time(),
    bytes: frames("ff81 05 00 00", "ff82 00 0f 01 0000000edd257425 77359400 ffff"),
    code: "GOB_OPAQUE",
  },
  {
    name: "an integer that is no safe number",
    schema: int(),
    bytes: frames("04 00 f8 0100000000000000"),
    code: "GOB_UNSAFE_INTEGER",
  },
  {
    name: "a uint that is no safe number",
    schema: uint(),
    bytes: frames("06 00 f8 0100000000000000"),
    code: "GOB_UNSAFE_INTEGER",
  },
  {
    name: "a string where a float should be",
    schema: float(),
    bytes: frames("0c 00 01 61"),
    code: "GOB_TYPE_MISMATCH",
  },
];

/** A list whose bytes are made by hand: encoding it would need the stack that decoding it is to run out of. */
function deepList(depth: number): Uint8Array {
  const head = frames("ff81 03 02 02 01 05 56616c7565 01 04 00 01 04 4e657874 01 ff82 00 00 00");
  const body = new Uint8Array(2 + depth).fill(2);
  body.set(hex("ff82"));
  const frame = new Uint8Array(head.length + 5 + body.length);
  frame.set(head);
  frame[head.length] = 0xfc;
  new DataView(frame.buffer).setUint32(head.length + 1, body.length);
  frame.set(body, head.length + 5);
  return frame;
}

/** A slice of structs with all fields zero: one byte each to send, an object each to hold. */
function manyPoints(count: number): Uint8Array {
  return encoder(slice(Point)).encode(Array.from({ length: count }, () => ({ X: 0, Y: 0 })));
}

describe("hostile bytes", () => {
  for (const { name, schema, bytes: stream, code, limits } of refusals) {
    test(`${name}: ${code}`, () => {
      const error = refusalOf(schema, stream, limits);
      equal(error.code, code, error.message);
      ok(error.offset !== undefined && error.offset <= stream.length, `offset ${error.offset}`);
    });
  }
});

function refusalOf(schema: Schema<unknown>, stream: Uint8Array, limits: Partial<GobLimits> = {}): GobError {
  const into = decoder(schema, limits);
  try {
    into.push(stream);
    into.end();
  } catch (error) {
    if (error instanceof GobError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

test("a frame is refused by its length alone, before any of it is there", () => {
  throws(() => decoder(Point).push(hex("fc 7fffffff")), { code: "GOB_LIMIT_MESSAGE" });
});

test("a message of exactly the limit passes", () => {
  const message = encoder(bytes()).encode(new Uint8Array(1000));
  deepEqual(decoder(bytes(), { messageBytes: message.length }).push(message), [new Uint8Array(1000)]);
  throws(() => decoder(bytes(), { messageBytes: message.length - 1 }).push(message), { code: "GOB_LIMIT_MESSAGE" });
});

test("64 types and a depth of 32 pass", () => {
  deepEqual(decoder(Point).push(definitions(64)), []);
  equal(decoder(List).push(listOf(32)).length, 1);
});

test("values in front of bad bytes come out first, and then the decoder is spent", () => {
  const into = decoder(Point);
  deepEqual(into.push(frames(definePoint, somePoint, "")), [{ X: 3, Y: 4 }]);
  throws(() => into.push(new Uint8Array(0)), { code: "GOB_EMPTY_FRAME" });
  throws(() => into.end(), { code: "GOB_EMPTY_FRAME" });
});

// A slice of interfaces, cut behind the name of each: Go reads that, but writes it only where a type's definition follows.
const cutStart = ["ff81 02 02 10 00 00", "ff82 00 fe 0bb8 06 737472696e67"];
const cutOn = "0c 03 00 01 61 06 737472696e67";
const cuts: { name: string; whole: Uint8Array[] }[] = [
  { name: "one by one", whole: [frames(...cutStart), ...new Array(3000).fill(frames(cutOn))] },
  { name: "at once", whole: [frames(...cutStart, ...new Array(3000).fill(cutOn))] },
];
for (const { name, whole } of cuts) {
  test(`a value cut into more frames than there may be types is refused at the same place: frames that come ${name}`, () => {
    const into = decoder(slice(interface_()));
    const pushAll = (): void => {
      for (const bytes of whole) into.push(bytes);
    };
    const offset = frames(...cutStart, ...new Array(64).fill(cutOn)).length;
    throws(pushAll, { code: "GOB_LIMIT_FRAMES", offset });
  });
}

test("a value of very many structs that is cut behind them is not made anew with each frame", () => {
  const Item = struct("Item", { Any: interface_() });
  // Type 65 is a slice of type 66, which is struct { Any interface{} }: 200,000 of them are empty, then they are cut.
  const head = frames("ff81 02 02 ff84 00 00", "ff83 03 02 01 01 03 416e79 01 10 00 00 00");
  const start = Buffer.concat([hex("ff82 00 fd 030e40"), new Uint8Array(200_000), hex("01 06 737472696e67")]);
  const into = decoder(slice(Item));
  into.push(Buffer.concat([head, hex("fd"), hex(start.length.toString(16).padStart(6, "0")), start]));
  const pushAll = (): void => {
    for (let i = 0; i < 8; i++) into.push(frames("0c 03 00 01 61 00 01 06 737472696e67"));
  };
  throws(pushAll, { code: "GOB_LIMIT_FRAMES" });
});

test("values of one stream may be cut as often as it may define types, and not more", () => {
  const define = "ff81 02 02 10 00 00";
  const cutOnce = ["ff82 00 01 06 737472696e67", "0c 03 00 01 61"];
  const value = [{ type: "string", value: "a" }];
  const into = decoder(slice(interface_()), { types: 2 });
  deepEqual(into.push(frames(define, ...cutOnce, ...cutOnce)), [value, value]);
  throws(() => into.push(frames(...cutOnce)), { code: "GOB_LIMIT_FRAMES" });
});

test("the fields of a definition are not counted as elements of a value", () => {
  const stream = frames(definePoint, somePoint);
  deepEqual(decoder(Point, { elements: 0 }).push(stream), [{ X: 3, Y: 4 }]);
});

test("an array that was left out counts as one that was sent", () => {
  const Blocks = slice(struct("Block", { Hash: array(int(), 100) }));
  const stream = frames(...defineBlocks, manyBlocks(3));
  const [blocks] = decoder(Blocks, { elements: 3 + 300 }).push(stream);
  deepEqual(blocks, new Array(3).fill({ Hash: new Array(100).fill(0) }));
});

const ends: { name: string; bytes: Uint8Array; code: GobErrorCode }[] = [
  { name: "a value that was not asked for", bytes: frames(definePoint, somePoint), code: "GOB_UNREAD" },
  { name: "half a value", bytes: frames(definePoint, somePoint).subarray(0, -1), code: "GOB_TRUNCATED" },
];
for (const { name, bytes: stream, code } of ends) {
  test(`ended with ${name}: ${code}`, () => {
    const into = decoder(Point);
    into.feed(stream);
    throws(() => into.end(), { code });
    throws(() => into.next(), { code });
  });
}

test("ended behind definitions that no value follows: GOB_TRUNCATED", () => {
  const into = decoder(Point);
  into.push(frames(definePoint));
  throws(() => into.end(), { code: "GOB_TRUNCATED" });
});

test("a million single bytes of one frame cost no more than they should", () => {
  const message = encoder(bytes()).encode(new Uint8Array(1_000_000));
  const into = decoder(bytes());
  let values = 0;
  for (const byte of message) values += into.push(Uint8Array.of(byte)).length;
  equal(values, 1);
});

test("bytes that are kept do not change when the decoder goes on", () => {
  const into = decoder(bytes());
  const out = encoder(bytes());
  const kept = Array.from({ length: 300 }, (_, i) => into.push(out.encode(new Uint8Array(500).fill(i)))).flat();
  for (const [i, value] of kept.entries()) ok(value.every((byte) => byte === i % 256));
});

test("names that objects inherit are fields and keys like any other", () => {
  const keys = ["__proto__", "constructor", "toString"];
  const Odd = struct("Odd", { M: map(string(), int()), I: interface_() });
  const value = { M: new Map(keys.map((key, i) => [key, i])), I: null };
  const [decoded] = decoder(Odd).push(encoder(Odd).encode(value));
  deepEqual(decoded, value);
});

test("what cannot be decoded, or makes no sense in Go, is refused as a schema", () => {
  throws(() => decoder(slice(raw(Point))), { code: "GOB_SCHEMA" });
  throws(() => slice(uint({ bits: 8 })), { code: "GOB_SCHEMA" });
  throws(() => struct("T", { lower: int() }), { code: "GOB_SCHEMA" });
  throws(() => array(int(), -1), { code: "GOB_SCHEMA" });
  throws(() => interface_({ "": Point }), { code: "GOB_SCHEMA" });
  throws(() => decoder(Point, { depth: -1 }), { code: "GOB_SCHEMA" });
});

test("every code has its explanation", () => {
  for (const [code, says] of Object.entries(gobErrorCodes)) ok(/^GOB_[A-Z_]+$/.test(code) && says.length > 20, code);
});

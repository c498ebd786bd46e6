// The encoder's own promises: state-free messages, pieces encoded once, and errors for values that do not fit.
import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  array,
  bool,
  bytes,
  decoder,
  encoder,
  float,
  int,
  interface_,
  lazy,
  map,
  opaqueBytes,
  pointer,
  raw,
  type Schema,
  slice,
  string,
  struct,
  time,
  uint,
  type ValueOf,
  zeroTime,
} from "../index.ts";

const Point = struct("Point", { X: int(), Y: int() });
const Line = struct("Line", { Points: slice(Point), Note: interface_() });
const Shapes = { "shapes.Line": Line, "shapes.Point": Point };
const Drawing = struct("Drawing", { Shape: interface_(Shapes) });
type Drawing = ValueOf<typeof Drawing>;
const hex = (data: Uint8Array): string => Buffer.from(data).toString("hex");

describe("state-free messages", () => {
  const out = encoder(Drawing);
  const line: Drawing = { Shape: { type: "shapes.Line", value: { Points: [{ X: 1, Y: 2 }], Note: null } } };

  test("the same value gives the same bytes, whatever went before", () => {
    const first = out.message(line);
    out.encode({ Shape: { type: "shapes.Point", value: { X: 9, Y: 9 } } });
    deepEqual(out.message(line), first);
    deepEqual(encoder(Drawing).message(line), first);
  });

  test("they can be read behind the preamble in any number and order", () => {
    const into = decoder(Drawing);
    deepEqual(into.push(out.preamble()), []);
    for (let i = 0; i < 3; i++) deepEqual(into.push(out.message(line)), [line]);
  });

  test("the preamble defines every registered type once", () => {
    const into = decoder(Drawing, { types: 4 });
    into.push(out.preamble());
    throws(() => into.push(out.preamble()), { code: "GOB_DUPLICATE_TYPE" });
  });

  test("a borrowed message is the message, until the next call", () => {
    deepEqual(out.borrowMessage(line), out.message(line));
  });

  test("a basic slice in an interface must be registered to be announced", () => {
    const note: Drawing = {
      Shape: { type: "shapes.Line", value: { Points: [], Note: { type: "[]string", value: ["a"] } } },
    };
    throws(() => out.message(note), { code: "GOB_NOT_ANNOUNCED" });
  });
});

describe("pieces", () => {
  const Pieces = struct("Line", { Points: slice(raw(Point)), Note: interface_() });
  const points = Array.from({ length: 300 }, (_, i) => ({ X: i, Y: -i }));

  test("what the preamble does not define is refused in a piece as in a message", () => {
    const out = encoder(Pieces);
    const note = { Points: [], Note: { type: "[]string" as const, value: ["a"] } };
    throws(() => out.element(Line, note), { code: "GOB_NOT_ANNOUNCED" });
    deepEqual(out.element(Point, { X: 0, Y: 0 }), Uint8Array.of(0), "and the next one is not");
  });

  test("a piece that holds itself is refused", () => {
    type Ring = { Next: Ring | null };
    const Ring: Schema<Ring> = struct("Ring", { Next: pointer(lazy<Ring>(() => Ring)) });
    const ring: Ring = { Next: null };
    ring.Next = ring;
    throws(() => encoder(Ring).element(Ring, ring), { code: "GOB_VALUE" });
  });

  test("encoded once and put into a message, they are what encoding in place gives", () => {
    const out = encoder(Pieces);
    const pieces = points.map((point) => out.element(Point, point));
    deepEqual(out.message({ Points: pieces, Note: null }), encoder(Line).message({ Points: points, Note: null }));
    deepEqual(out.preamble(), encoder(Line).preamble());
  });

  test("a piece is an element: a scalar with its zero, a struct with its end", () => {
    const out = encoder(Pieces);
    equal(hex(out.element(Point, { X: 0, Y: 0 })), "00");
    equal(hex(out.element(int(), 0)), "00");
    equal(hex(out.element(string(), "ab")), "026162");
  });
});

describe("definitions", () => {
  test("equal types are defined once", () => {
    const Pair = struct("Pair", { A: slice(string()), B: slice(string()), C: time(), D: time() });
    const into = decoder(Pair, { types: 3 });
    const value = { A: ["a"], B: ["b"], C: { ...zeroTime }, D: { ...zeroTime, nanos: 1 } };
    deepEqual(into.push(encoder(Pair).encode(value)), [value]);
  });

  test("a value is sent with the definitions it needs and no others", () => {
    const out = encoder(Drawing);
    const point = { Shape: { type: "shapes.Point", value: { X: 1, Y: 2 } } } as const;
    const into = decoder(Drawing, { types: 2 });
    deepEqual([...into.push(out.encode(point)), ...into.push(out.encode(point))], [point, point]);
  });

  test("types may hold themselves, directly or by way of others", () => {
    type Dir = { Name: string; Dirs: Map<string, Dir>; Parent: Dir | null };
    const Dir: Schema<Dir> = struct("Dir", {
      Name: string(),
      Dirs: map(
        string(),
        lazy<Dir>(() => Dir),
      ),
      Parent: pointer(lazy<Dir>(() => Dir)),
    });
    const leaf: Dir = { Name: "leaf", Dirs: new Map(), Parent: { Name: "up", Dirs: new Map(), Parent: null } };
    const root: Dir = { Name: "", Dirs: new Map([["leaf", leaf]]), Parent: null };
    deepEqual(decoder(Dir).push(encoder(Dir).encode(root)), [root]);
  });
});

// Values as a program without a type checker might pass them.
const misfits: { name: string; schema: Schema<unknown>; value: unknown }[] = [
  { name: "a fraction for an int", schema: int(), value: 1.5 },
  { name: "128 for int8", schema: int({ bits: 8 }), value: 128 },
  { name: "-1 for a uint", schema: uint(), value: -1 },
  { name: "256 for uint8", schema: uint({ bits: 8 }), value: 256 },
  { name: "2^64 for uint64", schema: uint({ as: "bigint" }), value: 2n ** 64n },
  { name: "2^63 for int64", schema: int({ as: "bigint" }), value: 2n ** 63n },
  { name: "an unsafe number for int64", schema: int(), value: 2 ** 53 },
  { name: "1e39 for float32", schema: float({ bits: 32 }), value: 1e39 },
  { name: "a number for a string", schema: string(), value: 1 },
  { name: "a string for bytes", schema: bytes(), value: "x" },
  { name: "a string for a bool", schema: bool(), value: "false" },
  { name: "a plain object for a map", schema: map(string(), int()), value: {} },
  { name: "an object for a slice", schema: slice(int()), value: {} },
  { name: "two elements for an array of three", schema: array(int(), 3), value: [1, 2] },
  { name: "null in a slice of pointers", schema: slice(pointer(Point)), value: [null] },
  { name: "a name for a struct", schema: Point, value: "Point" },
  { name: "a bare value for an interface", schema: interface_(), value: 3 },
  { name: "a zone of minus one minute", schema: time(), value: { seconds: 0n, nanos: 0, offsetSeconds: -60 } },
  { name: "too many nanoseconds", schema: time(), value: { seconds: 0n, nanos: 1e9, offsetSeconds: "utc" } },
];

describe("values that do not fit their schema", () => {
  for (const { name, schema, value } of misfits) {
    test(`${name} is refused`, () => {
      throws(() => encoder(schema).encode(value), { code: "GOB_VALUE" });
    });
  }

  test("the error says where the bad value is", () => {
    const bad: Drawing = { Shape: { type: "shapes.Line", value: { Points: [{ X: 1, Y: 0.5 }], Note: null } } };
    throws(() => encoder(Drawing).encode(bad), {
      message: "Drawing.Shape: Line.Points: Point.Y: wanted a whole number that fits int64, got number 0.5 (GOB_VALUE)",
    });
  });

  test("a type that is not registered is refused", () => {
    const value = { type: "nobody", value: 1 } as unknown as null;
    throws(() => encoder(interface_()).encode(value), { code: "GOB_UNKNOWN_NAME" });
  });

  test("a value that holds itself is refused", () => {
    type Ring = { Next: Ring | null };
    const Ring: Schema<Ring> = struct("Ring", { Next: pointer(lazy<Ring>(() => Ring)) });
    const ring: Ring = { Next: null };
    ring.Next = ring;
    throws(() => encoder(Ring).encode(ring), { code: "GOB_VALUE" });
  });

  test("a refused value leaves the encoder as it was", () => {
    const out = encoder(slice(string()));
    throws(() => out.encode(["a", 1 as unknown as string]), { code: "GOB_VALUE" });
    deepEqual(decoder(slice(string())).push(out.encode(["a", "b"])), [["a", "b"]]);
  });
});

describe("types with an encoding of their own", () => {
  for (const form of ["gob", "binary", "text"] as const) {
    test(`can be had as their bytes: ${form}`, () => {
      const Account = struct("Account", { Id: opaqueBytes("UUID", form), Name: string() });
      const account = { Id: Uint8Array.of(1, 2, 3), Name: "a" };
      const stream = encoder(Account).encode(account);
      const [read] = decoder(Account).push(stream);
      deepEqual(read, account);
      stream.fill(0);
      deepEqual(read?.Id, account.Id, "the bytes are a copy");
      deepEqual(
        decoder(Account).push(encoder(Account).encode({ ...account, Id: new Uint8Array(0) }))[0]?.Id,
        new Uint8Array(0),
      );
    });
  }
});

describe("long values", () => {
  for (const count of [0, 1, 47, 48, 127, 128, 300, 341, 342, 70_000]) {
    for (const letter of ["x", "é", "漢", "😀"]) {
      test(`a string of ${count} times ${letter}`, () => {
        const text = letter.repeat(count);
        deepEqual(decoder(string()).push(encoder(string()).encode(text)), [text]);
      });
    }
  }
});

// Keys that are no scalars: each once, as Go's map has them, and cheap whatever is sent.
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  array,
  complex,
  decoder,
  encoder,
  float,
  int,
  interface_,
  made,
  map,
  opaque,
  opaqueBytes,
  type Schema,
  string,
  struct,
  textBytes,
  time,
  timeFromMillis,
  type ValueOf,
} from "../index.ts";

const moment = opaque<Date>("Moment", {
  form: "binary",
  encode: (date) => new TextEncoder().encode(date.toISOString()),
  decode: (bytes) => new Date(new TextDecoder().decode(bytes)),
  zero: () => new Date(0),
});
const Addr = opaqueBytes("Addr", "binary");
const Port = struct("Port", { Addr, Name: string() });
const Pair = struct("Pair", { A: string(), B: string() });
const anything = interface_({ Pair, Addr, "[]byte": textBytes() });
const date = (ms: number): Date => new Date(ms);

type Kept = { name: string; key: Schema<unknown>; keys: unknown[]; distinct?: number };
const kept: Kept[] = [
  { name: "dates", key: moment, keys: [date(1), date(2), date(3)] },
  { name: "the same date twice", key: moment, keys: [date(1), date(1)], distinct: 1 },
  { name: "bytes of a type with an encoding of its own", key: Addr, keys: [Uint8Array.of(10), Uint8Array.of(1, 0)] },
  { name: "the same bytes twice", key: Addr, keys: [Uint8Array.of(10), Uint8Array.of(10)], distinct: 1 },
  { name: "times", key: time(), keys: [timeFromMillis(1), timeFromMillis(2), timeFromMillis(1)], distinct: 2 },
  {
    name: "structs with such a field",
    key: Port,
    keys: [
      { Addr: Uint8Array.of(1), Name: "a" },
      { Addr: Uint8Array.of(2), Name: "a" },
      { Addr: Uint8Array.of(1), Name: "a" },
    ],
    distinct: 2,
  },
  {
    name: "such types in an interface",
    key: anything,
    keys: [
      { type: "Addr", value: Uint8Array.of(1) },
      { type: "Addr", value: Uint8Array.of(2) },
      { type: "Addr", value: Uint8Array.of(1) },
      { type: "int8", value: 1 },
      { type: "int16", value: 1 },
      null,
    ],
    distinct: 5,
  },
  {
    name: "structs whose texts are the same one behind the other",
    key: Pair,
    keys: [
      { A: "a", B: "b1:c" },
      { A: "a1:b", B: "c" },
      { A: "", B: "ab" },
    ],
  },
  { name: "arrays with both zeros", key: array(float(), 1), keys: [[0], [-0], [1]], distinct: 2 },
  {
    name: "complex numbers",
    key: complex(),
    keys: [
      { re: 1, im: 2 },
      { re: 12, im: 0 },
      { re: 1, im: 2 },
    ],
    distinct: 2,
  },
];

describe("maps with keys that are objects here", () => {
  for (const { name, key, keys, distinct } of kept) {
    test(`hold each once: ${name}`, () => {
      const schema = map(key, int());
      const sent = new Map(keys.map((one, index) => [one, index]));
      const [read] = decoder(schema).push(encoder(schema).encode(sent));
      equal(read?.size, distinct ?? keys.length);
      for (const [found, index] of read ?? []) deepEqual(found, keys[index]);
    });
  }

  test("a key that is made is equal to none but itself", () => {
    class Sealed {
      readonly #a: string;
      constructor(a: string) {
        this.#a = a;
      }
      text(): string {
        return this.#a;
      }
    }
    const sent = new Map(["x", "y"].map((A) => [{ A, B: "" }, A]));
    const [read] = decoder(
      map(
        made(Pair, ["A"], ([a]) => new Sealed(a)),
        string(),
      ),
    ).push(encoder(map(Pair, string())).encode(sent));
    deepEqual(
      [...(read ?? [])].map(([key, value]) => [key.text(), value]),
      [
        ["x", "x"],
        ["y", "y"],
      ],
    );
  });
});

const refused: NonNullable<ValueOf<typeof anything>>[] = [
  { type: "[]uint8", value: Uint8Array.of(1) },
  { type: "[]string", value: ["a"] },
  { type: "[]byte", value: "a" },
];
for (const key of refused) {
  test(`what Go cannot hash is refused: ${key.type} in an interface`, () => {
    const schema = map(anything, int());
    throws(() => decoder(schema).push(encoder(schema).encode(new Map([[key, 1]]))), { code: "GOB_MAP_KEY" });
  });
}

test("a key that a type refuses to write again is refused", () => {
  const oneWay = opaque<object>("OneWay", {
    form: "binary",
    encode: () => {
      throw new Error("never");
    },
    decode: () => ({}),
    zero: () => ({}),
  });
  const stream = encoder(map(Addr, int())).encode(new Map([[Uint8Array.of(1), 1]]));
  throws(() => decoder(map(oneWay, int())).push(stream), { code: "GOB_OPAQUE" });
});

test("a deeply nested key takes no more than its bytes", () => {
  type Nest = { Next: { type: "Nest"; value: Nest } | null };
  const next = interface_((): { Nest: Schema<Nest> } => ({ Nest }), { basics: false });
  const Nest: Schema<Nest> = struct("Nest", { Next: next });
  let key: Nest["Next"] = { type: "Nest", value: { Next: null } };
  // Each level multiplied the text by four once, which at fifteen was more than memory.
  for (let level = 1; level < 15; level++) key = { type: "Nest", value: { Next: key } };
  const schema = map(next, int());
  const [read] = decoder(schema).push(encoder(schema).encode(new Map([[key, 1]])));
  ok(read !== undefined);
  deepEqual([...read], [[key, 1]]);
});

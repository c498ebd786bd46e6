import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  always,
  compareUtf8,
  goBool,
  goList,
  goMap,
  goNumber,
  goPointer,
  goRaw,
  goString,
  goStruct,
  omitEmpty,
  omitZero,
  writeGoNumber,
  writeGoString,
} from "./go-json.ts";

const strings: { name: string; text: string; json: string }[] = [
  { name: "plain text is quoted", text: "web-0", json: '"web-0"' },
  { name: "HTML characters are escaped", text: "a<b>&&c", json: '"a\\u003cb\\u003e\\u0026\\u0026c"' },
  { name: "quote and backslash", text: '"\\', json: '"\\"\\\\"' },
  { name: "short control escapes", text: "\b\f\n\r\t", json: '"\\b\\f\\n\\r\\t"' },
  { name: "other control characters", text: "\u0000\u001f", json: '"\\u0000\\u001f"' },
  { name: "line and paragraph separators", text: "\u2028\u2029", json: '"\\u2028\\u2029"' },
  { name: "DEL and non-ASCII stay", text: "\u007fé漢😀", json: '"\u007fé漢😀"' },
  { name: "half a surrogate pair becomes the replacement character", text: "a\ud800b<", json: '"a\ufffdb\\u003c"' },
];
for (const { name, text, json } of strings) test(`string: ${name}`, () => equal(writeGoString(text), json));

const numbers: [number | bigint, string][] = [
  [1000, "1000"],
  [10.5, "10.5"],
  [1e6, "1000000"],
  [1e21, "1e+21"],
  [1e-7, "1e-7"],
  [0.000001, "0.000001"],
  [-0, "-0"],
  [1723456789012345678n, "1723456789012345678"],
];
for (const [value, json] of numbers) test(`number: ${json}`, () => equal(writeGoNumber(value), json));

// The quick way and the long one: what is written at once must be what is written piece by piece.
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("a", "b", "<", "&", '"', "\\", "\u2028", "\u007f", "\ud800", "\udc00", "😀", "\uffff", "é"),
  }),
  fc.nat(20).map(String), // JavaScript puts members that are numbers first
  fc.constantFrom("__proto__", "toJSON", "constructor"),
);
const pieceByPiece = { ...goString }; // the same type, but not the one that has a quick way

test("maps of text are written alike at once and piece by piece, whatever is in them and in which order", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, anyText)), (members) => {
      const map: { [name: string]: string } = Object.create(null);
      for (const [name, value] of members) map[name] = value;
      equal(goMap(goString).write(map), goMap(pieceByPiece).write(map));
      const sorted: { [name: string]: string } = {};
      for (const name of Object.keys(map).sort())
        Object.defineProperty(sorted, name, { value: map[name], enumerable: true });
      equal(goMap(goString).write(sorted), goMap(pieceByPiece).write(sorted));
    }),
    { numRuns: 2000 },
  );
});

test("lists of text are written alike at once and piece by piece, holes among them", () => {
  const holes = fc.constantFrom(undefined, null) as unknown as fc.Arbitrary<string>; // what Go has no word for
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 9, arbitrary: anyText }, { weight: 1, arbitrary: holes })), (list) => {
      equal(goList(goString).write(list), goList(pieceByPiece).write(list));
    }),
    { numRuns: 2000 },
  );
});

type Sample = {
  name?: string;
  order?: number;
  pointer?: number;
  flag?: boolean;
  list?: string[];
  map?: { [key: string]: string };
  inner?: { a?: string };
  zeroed?: { a?: string };
};
const inner = goStruct<{ a?: string }>({ a: omitEmpty(goString) });
const omitting = goStruct<Sample>({
  name: omitEmpty(goString),
  order: omitEmpty(goNumber),
  pointer: omitEmpty(goPointer(goNumber)),
  flag: omitEmpty(goBool),
  list: omitEmpty(goList(goString)),
  map: omitEmpty(goMap(goString)),
  inner: omitEmpty(inner),
  zeroed: omitZero(inner),
});
const keeping = goStruct<Sample>({
  name: always(goString),
  order: always(goNumber),
  pointer: always(goPointer(goNumber)),
  flag: always(goBool),
  list: always(goList(goString)),
  map: always(goMap(goString)),
  inner: always(inner),
  zeroed: always(inner),
});
const structs: { name: string; json: string; expected: string }[] = [
  {
    name: "omitempty drops zeros and empties",
    json: omitting.write({ name: "", order: 0, flag: false, list: [], map: {} }),
    expected: "{}",
  },
  { name: "omitempty keeps a pointer to zero", json: omitting.write({ pointer: 0 }), expected: '{"pointer":0}' },
  { name: "omitempty never drops a struct", json: omitting.write({ inner: {} }), expected: '{"inner":{}}' },
  {
    name: "omitzero keeps an empty list",
    json: goStruct<{ z: { l?: string[] } }>({
      z: omitZero(goStruct<{ l?: string[] }>({ l: omitEmpty(goList(goString)) })),
    }).write({ z: { l: [] } }),
    expected: '{"z":{}}',
  },
  { name: "omitzero drops a zero struct", json: omitting.write({ zeroed: {} }), expected: "{}" },
  { name: "omitzero keeps another", json: omitting.write({ zeroed: { a: "b" } }), expected: '{"zeroed":{"a":"b"}}' },
  {
    name: "without an option zero values are written",
    json: keeping.write({}),
    expected: '{"name":"","order":0,"pointer":null,"flag":false,"list":null,"map":null,"inner":{},"zeroed":{}}',
  },
  {
    name: "empty list and map are not null",
    json: keeping.write({ list: [], map: {} }),
    expected: '{"name":"","order":0,"pointer":null,"flag":false,"list":[],"map":{},"inner":{},"zeroed":{}}',
  },
  {
    name: "map keys are sorted by UTF-8 bytes",
    json: goMap(goString).write({ "\u{1f600}": "1", "\uffee": "2", b: "3", a: "4", "10": "5", "9": "6" }),
    expected: '{"10":"5","9":"6","a":"4","b":"3","\uffee":"2","\u{1f600}":"1"}',
  },
  {
    name: "raw JSON keeps its order",
    json: goRaw.write({ b: [1, null, { "f:a": "<" }], a: true }),
    expected: '{"b":[1,null,{"f:a":"\\u003c"}],"a":true}',
  },
];
for (const { name, json, expected } of structs) test(`struct: ${name}`, () => equal(json, expected));

test("any string reads back as itself, made well-formed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => equal(JSON.parse(writeGoString(text)), text.toWellFormed())),
  );
});

test("the order of strings is the order of their bytes", () => {
  const bytes = (text: string) => Buffer.from(text, "utf8");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) =>
      equal(Math.sign(compareUtf8(a, b)), Buffer.compare(bytes(a), bytes(b))),
    ),
  );
});

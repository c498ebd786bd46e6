// A made struct is a struct read another way: what one decodes, the other does, and where one fails, so does the other.
import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { decoder, encoder, GobError, int, interface_, made, type Schema, slice, string, struct } from "./index.ts";

const Item = struct("Item", { Name: string(), Any: interface_(), Tags: slice(string()), Count: int() });
const Made = made(Item, ["Name", "Any", "Tags", "Count"], ([Name, Any, Tags, Count]) => ({ Name, Any, Tags, Count }));
const listOf = <T>(item: Schema<T>) => struct("List", { Items: slice(item) });

const items = [
  { Name: "a", Any: { type: "string" as const, value: "x" }, Tags: ["s", "t"], Count: -3 },
  { Name: "", Any: null, Tags: [], Count: 0 },
  { Name: "ü", Any: { type: "string" as const, value: "" }, Tags: [], Count: 70_000 },
  { Name: "b", Any: { type: "int" as const, value: 7n }, Tags: ["u"], Count: 1 },
  { Name: "c", Any: { type: "string" as const, value: "y" }, Tags: ["v"], Count: 2 },
];

type Outcome = { values: unknown[]; error?: { code: string; offset: number } };

function outcome(schema: Schema<unknown>, stream: Uint8Array): Outcome {
  const reading = decoder(schema, { messageBytes: 1 << 16, elements: 64 });
  const values: unknown[] = [];
  try {
    reading.feed(stream);
    for (let next = reading.next(); next !== undefined; next = reading.next()) values.push(next.value);
    return { values };
  } catch (error) {
    if (!(error instanceof GobError)) throw error;
    return { values, error: { code: error.code, offset: error.offset ?? -1 } };
  }
}

const stream = (() => {
  const writing = encoder(listOf(Item));
  return Buffer.concat([writing.preamble(), writing.message({ Items: items }), writing.message({ Items: items })]);
})();

test("a made struct holds what its struct holds, and what was not sent is zero", () => {
  deepEqual(outcome(listOf(Made), stream), { values: [{ Items: items }, { Items: items }] });
});

test("a made struct disagrees with its struct on no stream with one byte changed", () => {
  for (let at = 0; at < stream.length; at += 1) {
    for (const change of [1, 2, 0x7f, 0x80, 0xff]) {
      const bent = Buffer.from(stream);
      bent[at] = (bent[at] ?? 0) ^ change;
      deepEqual(outcome(listOf(Made), bent), outcome(listOf(Item), bent), `byte ${at} changed by ${change}`);
    }
  }
});

test("a made struct disagrees with its struct on no stream that is cut short", () => {
  for (let end = 0; end < stream.length; end += 1) {
    deepEqual(outcome(listOf(Made), stream.subarray(0, end)), outcome(listOf(Item), stream.subarray(0, end)));
  }
});

test("fields are found by name, whatever their order, and those not named are skipped", () => {
  const Other = struct("Item", { Count: int(), Extra: string(), Name: string() });
  const sent = encoder(Other).encode({ Count: 5, Extra: "skipped", Name: "n" });
  const short = made(Item, ["Name", "Count"], (values) => `${values[0]}=${values[1]}`);
  deepEqual(decoder(short).push(sent), ["n=5"]);
});

test("a made struct inside another that was not sent is made from zeros", () => {
  const Outer = struct("Outer", { Before: string(), Inner: made(Item, ["Name", "Tags"], (values) => [...values]) });
  const sent = encoder(struct("Outer", { Before: string() })).encode({ Before: "x" });
  deepEqual(decoder(Outer).push(sent), [{ Before: "x", Inner: ["", []] }]);
});

test("a made struct cannot be encoded, and nothing but a struct can be made", () => {
  throws(() => encoder(listOf(Made)).encode({ Items: items }), { code: "GOB_SCHEMA" });
  const notStruct = slice(Item) as unknown as typeof Item; // what the type checker would refuse
  throws(() => made(notStruct, ["Name"], (values) => values), { code: "GOB_SCHEMA" });
});

// Streams that Go's encoder wrote, or that were put together by hand, with what Go's decoder made of each
// (test/vectors/make/gob writes them). Where Go is installed, they are also written again and compared.
import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { goPeer } from "../../../test/kit/go.ts";
import { dump } from "../../../test/kit/gob-dump.ts";
import { gobTypes } from "../../../test/kit/gob-types.ts";
import { decoder, encoder, GobError, type Schema } from "./index.ts";

type Vector = { name: string; into: string; hex: string; values: string[]; ends: string; unordered?: boolean };
type Outcome = { values: string[]; ends: "end" | "error" };

const vectors: Vector[] = JSON.parse(readFileSync("test/vectors/gob/go.json", "utf8"));

/** Decodes a stream given in pieces, and says what came out and how it ended. */
function outcome(schema: Schema<unknown>, pieces: readonly Uint8Array[]): Outcome {
  const values: unknown[] = [];
  const stream = decoder(schema);
  const texts = (): string[] => values.map((value) => dump(schema, value));
  try {
    for (const piece of pieces) values.push(...stream.push(piece));
    stream.end();
    return { values: texts(), ends: "end" };
  } catch (error) {
    if (!(error instanceof GobError)) throw error;
    return { values: texts(), ends: "error" };
  }
}

function schemaOf(name: string): Schema<unknown> {
  const schema = gobTypes.get(name);
  if (schema === undefined) throw new Error(`no schema for ${name}`);
  return schema;
}

describe("Go's streams decode to Go's values", () => {
  for (const { name, into, hex, values, ends } of vectors) {
    test(`${name} (into ${into})`, () => {
      const bytes = new Uint8Array(Buffer.from(hex, "hex"));
      const whole = outcome(schemaOf(into), [bytes]);
      deepEqual(whole, { values, ends: ends === "end" ? "end" : "error" });
      const single = outcome(
        schemaOf(into),
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      );
      deepEqual(single, whole, "one byte at a time");
    });
  }
});

describe("what was decoded can be encoded and decoded again", () => {
  for (const { name, into, hex, values } of vectors) {
    if (values.length === 0) continue;
    test(`${name} (as ${into})`, () => {
      const schema = schemaOf(into);
      const decoded: unknown[] = decoder(schema).push(new Uint8Array(Buffer.from(hex, "hex")));
      const stream = encoder(schema);
      deepEqual(
        outcome(
          schema,
          decoded.map((value) => stream.encode(value)),
        ),
        { values, ends: "end" },
      );
    });
  }
});

const peer = await goPeer("test/vectors/make/gob");

test("Go writes the same vectors again", { skip: peer.missing ?? false }, () => {
  const again: Vector[] = JSON.parse(
    execFileSync(peer.path ?? "", ["vectors"], { encoding: "utf8", env: { ...process.env, TZ: "UTC" } }),
  );
  equal(again.length, vectors.length);
  // Maps of several keys come in another order each time; their values must be the same all the same.
  const comparable = (vector: Vector): Vector => (vector.unordered ? { ...vector, hex: "" } : vector);
  deepEqual(again.map(comparable), vectors.map(comparable));
});

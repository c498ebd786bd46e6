// What we encode, Go decodes to the same values: every vector, and a thousand random values of Go's own making, in both
// ways of encoding.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decoder, encoder, GobError, type Schema } from "../../src/base/gob/index.ts";
import { goPeer } from "../kit/go.ts";
import { dump } from "../kit/gob-dump.ts";
import { gobTypes } from "../kit/gob-types.ts";
import { type Case, goCorpus, Oracle, typeNames } from "./gob-oracle.ts";

const peer = await goPeer("test/vectors/make/gob");
const skip = peer.missing ?? false;

type Encoding = { name: string; encode: (schema: Schema<unknown>, values: readonly unknown[]) => Uint8Array };

const encodings: Encoding[] = [
  {
    name: "each definition in front of its first use",
    encode: (schema, values) => {
      const stream = encoder(schema);
      return Buffer.concat(values.map((value) => stream.encode(value)));
    },
  },
  {
    name: "all definitions first, then messages free of state",
    encode: (schema, values) => {
      const stream = encoder(schema);
      return Buffer.concat([stream.preamble(), ...values.map((value) => stream.message(value))]);
    },
  },
];

for (const { name, encode } of encodings) {
  test(`Go decodes our vectors: ${name}`, { skip }, async () => {
    const vectors: { into: string; hex: string }[] = JSON.parse(readFileSync("test/vectors/gob/go.json", "utf8"));
    const cases = vectors.map(({ into, hex }) => ({ type: typeNames.indexOf(into), stream: Buffer.from(hex, "hex") }));
    await sendBack(cases, encode);
  });

  test(`Go decodes a thousand values of its own again: ${name}`, { skip }, async () => {
    await sendBack(goCorpus(peer.path ?? "", 7, 1000), encode);
  });
}

/** Decodes streams, encodes their values, and asks Go what it sees. */
async function sendBack(streams: readonly Case[], encode: Encoding["encode"]): Promise<void> {
  const sent: { each: Case; expected: string }[] = [];
  for (const { type, stream } of streams) {
    const schema = gobTypes.get(typeNames[type] ?? "");
    if (schema === undefined) throw new Error(`no schema ${type}`);
    const values = valuesOf(schema, stream);
    if (values.length === 0) continue;
    const encoded = encodeOrRefuse(() => encode(schema, values));
    if (encoded === undefined) continue;
    const expected = values.map((value) => `${dump(schema, value)}\n`).join("");
    sent.push({ each: { type, stream: encoded }, expected });
  }
  using oracle = new Oracle(peer.path ?? "");
  const verdicts = await oracle.judge(sent.map(({ each }) => each));
  equal(verdicts.length > 100, true);
  for (const [i, verdict] of verdicts.entries()) {
    const hex = Buffer.from(sent[i]?.each.stream ?? []).toString("hex");
    deepEqual({ text: verdict.text, ends: verdict.ends, hex }, { text: sent[i]?.expected, ends: "end", hex });
  }
}

function valuesOf(schema: Schema<unknown>, stream: Uint8Array): unknown[] {
  try {
    return decoder(schema).push(stream);
  } catch (error) {
    if (error instanceof GobError) return [];
    throw error;
  }
}

/** A state-free message cannot hold a basic slice in an interface unless it is registered. */
function encodeOrRefuse(encode: () => Uint8Array): Uint8Array | undefined {
  try {
    return encode();
  } catch (error) {
    if (error instanceof GobError && error.code === "GOB_NOT_ANNOUNCED") return undefined;
    throw error;
  }
}

// Streams share what was worked out for others that had the same definitions, and never for others that had not.
import { deepEqual, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { decoder, encoder, int, interface_, string, struct } from "../index.ts";

const name = "thing";

/** A stream of envelopes that hold a T with these fields, in this order, which is the order of the definition that is sent. */
function sender(fields: { [name: string]: ReturnType<typeof int> | ReturnType<typeof string> }) {
  const schema = struct("Envelope", { Message: interface_({ [name]: struct("T", fields) }, { basics: false }) });
  const stream = encoder(schema);
  const [definesEnvelope = [], definesT = []] = contentsOf(stream.preamble());
  const message = (value: { [name: string]: unknown }): Uint8Array =>
    stream.message({ Message: { type: name, value } } as Parameters<typeof stream.message>[0]);
  return {
    opening: framed(definesEnvelope),
    /** As Go writes the first value of a type: its definition stands in the middle. */
    defining(value: { [name: string]: unknown }): Uint8Array {
      const [content = []] = contentsOf(message(value));
      const endOfName = Buffer.from(content).indexOf(name) + name.length;
      return Buffer.concat([framed([...content.slice(0, endOfName), ...definesT]), framed(content.slice(endOfName))]);
    },
    message,
  };
}

function contentsOf(frames: Uint8Array): number[][] {
  const contents: number[][] = [];
  for (let at = 0; at < frames.length; ) {
    const isLong = frames[at] === 0xff; // then the length is in the next byte; longer ones do not occur here
    const start = at + (isLong ? 2 : 1);
    const end = start + (frames[start - 1] ?? 0);
    contents.push([...frames.slice(start, end)]);
    at = end;
  }
  return contents;
}

function framed(content: readonly number[]): Uint8Array {
  return Uint8Array.of(...(content.length < 0x80 ? [] : [0xff]), content.length, ...content);
}

const T = struct("T", { A: int(), B: int() });
const Envelope = struct("Envelope", { Message: interface_({ [name]: T }) });
const held = (A: number, B: number) => [{ Message: { type: name, value: { A, B } } }];

describe("streams that define the same ids", () => {
  test("differently are each read by their own definitions, message by message", () => {
    const forward = sender({ A: int(), B: int() });
    const backward = sender({ B: int(), A: int() });
    const streams = [forward, backward, forward, backward].map((from) => ({ from, into: decoder(Envelope) }));
    for (const { from, into } of streams) deepEqual(into.push(from.opening), []);
    for (const { from, into } of streams) deepEqual(into.push(from.defining({ A: 1, B: 2 })), held(1, 2));
    for (let round = 3; round < 6; round += 1) {
      for (const { from, into } of streams) deepEqual(into.push(from.message({ A: round, B: 7 })), held(round, 7));
    }
  });

  test("alike, of which the first was refused, are refused as well", () => {
    const wrong = sender({ B: int(), A: string() });
    const stranger = sender({ C: int() });
    for (const { opening, value } of [
      { ...wrong, value: wrong.defining({ A: "a", B: 1 }) },
      { ...stranger, value: stranger.defining({ C: 1 }) },
    ]) {
      for (let stream = 0; stream < 3; stream += 1) {
        const into = decoder(Envelope);
        into.push(opening);
        throws(() => into.push(value), { code: "GOB_TYPE_MISMATCH" });
      }
    }
  });

  test("are read however many others there were meanwhile, each with definitions of its own", () => {
    const usual = sender({ A: int(), B: int() });
    const early = decoder(Envelope);
    early.push(usual.opening);
    deepEqual(early.push(usual.defining({ A: 1, B: 2 })), held(1, 2));
    for (let other = 0; other < 400; other += 1) {
      const odd = sender({ [`X${other}`]: int(), A: int() });
      const into = decoder(Envelope);
      into.push(odd.opening);
      deepEqual(into.push(odd.defining({ [`X${other}`]: 7, A: other })), held(other, 0));
    }
    deepEqual(early.push(usual.message({ A: 3, B: 4 })), held(3, 4));
    const late = decoder(Envelope);
    late.push(usual.opening);
    deepEqual(late.push(usual.defining({ A: 5, B: 6 })), held(5, 6));
  });

  test("are read on beyond the number of types that streams share", () => {
    const many = Array.from({ length: 60 }, (_, number) => struct(`T${number}`, { A: int(), B: int() }));
    const names = Object.fromEntries(many.map((one, number) => [`t${number}`, one]));
    const all = encoder(struct("Envelope", { Message: interface_(names, { basics: false }) }));
    const into = decoder(struct("Envelope", { Message: interface_(names) }));
    into.push(all.preamble());
    for (const number of [0, 31, 32, 59, 3]) {
      const message = { Message: { type: `t${number}`, value: { A: number, B: 1 } } };
      deepEqual(into.push(all.message(message as Parameters<typeof all.message>[0])), [message]);
    }
  });
});

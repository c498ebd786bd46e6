import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { decoder, encoder, int, slice, string, struct } from "../index.ts";
import type { WireType } from "../schema/wire-types.ts";
import { KnownDefinitions } from "./known-definitions.ts";

const nothing: WireType = {
  ArrayT: null,
  SliceT: null,
  StructT: null,
  MapT: null,
  GobEncoderT: null,
  BinaryMarshalerT: null,
  TextMarshalerT: null,
};

describe("definitions that some stream has had", () => {
  test("are found by all of their bytes, wherever they lie", () => {
    const known = new KnownDefinitions();
    known.keep(Uint8Array.of(1, 2, 3), nothing);
    equal(known.find(Uint8Array.of(9, 1, 2, 3, 9), 1, 4), nothing);
    equal(known.find(Uint8Array.of(1, 2, 4), 0, 3), undefined);
    equal(known.find(Uint8Array.of(1, 2, 3, 4), 0, 4), undefined);
  });

  test("are a copy: the buffer they came in is used again", () => {
    const known = new KnownDefinitions();
    const bytes = Uint8Array.of(1, 2, 3);
    known.keep(bytes, nothing);
    bytes.fill(0);
    equal(known.find(Uint8Array.of(1, 2, 3), 0, 3), nothing);
  });

  test("are the last 64, and none that is long: peers choose what they send", () => {
    const known = new KnownDefinitions();
    for (let number = 0; number < 100; number += 1) known.keep(Uint8Array.of(number), nothing);
    known.keep(new Uint8Array(4096), nothing);
    equal(known.size, 64);
    equal(known.find(Uint8Array.of(35), 0, 1), undefined);
    equal(known.find(Uint8Array.of(36), 0, 1), nothing);
    equal(known.find(new Uint8Array(4096), 0, 4096), undefined);
  });
});

describe("a stream that opens with definitions another stream has had", () => {
  const Wide = struct("Wide", { A: string(), B: string(), C: int(), D: slice(string()) });
  const value = { A: "a", B: "b", C: 7, D: ["d"] };
  const { message, preamble } = (() => {
    const wide = encoder(Wide);
    return { preamble: wide.preamble(), message: wide.message(value) };
  })();

  test("is read as the first was", () => {
    for (let stream = 0; stream < 3; stream += 1) {
      const wide = decoder(Wide);
      deepEqual(wide.push(preamble), []);
      deepEqual(wide.push(message), [value]);
    }
  });

  test("may still not define a type twice, nor one that is larger than its own limit", () => {
    throws(() => decoder(Wide).push(Buffer.concat([preamble, preamble])), { code: "GOB_DUPLICATE_TYPE" });
    throws(() => decoder(Wide, { fields: 3 }).push(preamble), { code: "GOB_LIMIT_FIELDS" });
    throws(() => decoder(Wide, { types: 1 }).push(preamble), { code: "GOB_LIMIT_TYPES" });
  });
});

// Compiles received types to closures that step over a value: for fields the schema does not have.
import { GobError } from "../error.ts";
import { typeId, type WireType } from "../schema/wire-types.ts";
import type { Reader } from "./reader.ts";

export type SkipOp = (r: Reader) => void;
type SkipRef = { skip: SkipOp };

export class Skippers {
  readonly #types: ReadonlyMap<number, WireType>;
  readonly #ops = new Map<number, SkipRef>();

  constructor(types: ReadonlyMap<number, WireType>) {
    this.#types = types;
  }

  /** The closure for a type, compiled once. It is looked up late, so recursive types find themselves. */
  opFor(id: number): SkipOp {
    const basic = basicSkips.get(id);
    if (basic !== undefined) return basic;
    const known = this.#ops.get(id);
    if (known !== undefined) return (r) => known.skip(r);
    const wire = this.#types.get(id);
    if (id !== typeId.interface && wire === undefined) {
      throw new GobError("GOB_BAD_TYPE", `type ${id} was never defined`);
    }
    const ref: SkipRef = { skip: () => undefined };
    this.#ops.set(id, ref);
    ref.skip = wire === undefined ? skipInterface : this.#compile(id, wire);
    return ref.skip;
  }

  #compile(id: number, wire: WireType): SkipOp {
    if (wire.ArrayT !== null) return skipArray(wire.ArrayT.Len, this.opFor(wire.ArrayT.Elem));
    if (wire.MapT !== null) return skipMap(this.opFor(wire.MapT.Key), this.opFor(wire.MapT.Elem));
    if (wire.SliceT !== null) return skipSlice(this.opFor(wire.SliceT.Elem));
    if (wire.StructT !== null) return this.#skipStruct(wire.StructT.Field);
    if (wire.GobEncoderT ?? wire.BinaryMarshalerT ?? wire.TextMarshalerT) return skipBytes;
    throw new GobError("GOB_BAD_TYPE", `type ${id} was defined as nothing`);
  }

  #skipStruct(fields: readonly { Name: string; Id: number }[]): SkipOp {
    const ops = fields.map((field) => {
      if (field.Name === "") throw new GobError("GOB_BAD_TYPE", "a received field has no name");
      return this.opFor(field.Id);
    });
    return (r) => {
      r.enter();
      for (let number = -1; r.at < r.end; ) {
        const delta = r.uint();
        if (delta === 0) break;
        number += delta;
        const op = ops[number];
        if (op === undefined) return r.fail("GOB_FIELD_NUMBER", `field ${number} of a struct with ${ops.length}`);
        op(r);
      }
      r.depth--;
    };
  }
}

function skipInterface(r: Reader): void {
  skipBytes(r);
  // A nil interface is skipped like any other, which misreads what follows it: Go does the same.
  r.types.typeSequence(r);
  skipBytes(r);
}

function skipUint(r: Reader): void {
  r.uint();
}

function skipBytes(r: Reader): void {
  const count = r.length(); // moves r.at itself, so it comes first
  r.at += count;
}

const basicSkips: ReadonlyMap<number, SkipOp> = new Map<number, SkipOp>([
  [typeId.bool, skipUint],
  [typeId.int, skipUint],
  [typeId.uint, skipUint],
  [typeId.float, skipUint],
  [typeId.bytes, skipBytes],
  [typeId.string, skipBytes],
  [
    typeId.complex,
    (r) => {
      r.uint();
      r.uint();
    },
  ],
]);

function skipArray(length: bigint, elem: SkipOp): SkipOp {
  const wanted = BigInt.asUintN(64, length);
  return (r) => {
    if (r.bigUint() !== wanted) r.fail("GOB_ARRAY_LENGTH", `an array of another length than ${length}`);
    skipElements(r, length < 0n ? 0 : Number(length), elem);
  };
}

function skipSlice(elem: SkipOp): SkipOp {
  return (r) => skipElements(r, countOf(r), elem);
}

function skipElements(r: Reader, count: number, elem: SkipOp): void {
  r.enterElements(count);
  for (let i = 0; i < count; i++) {
    if (r.at >= r.end) r.fail("GOB_SHORT_DATA", `the frame ends inside ${count} elements`);
    elem(r);
  }
  r.depth--;
}

function skipMap(key: SkipOp, elem: SkipOp): SkipOp {
  return (r) => {
    const count = countOf(r);
    r.enterElements(count);
    for (let i = 0; i < count; i++) {
      requireKey(r, count);
      key(r);
      elem(r);
    }
    r.depth--;
  };
}

/** A count of elements. From 2^63 on Go's int turns negative and nothing is read; below, it must fit the message. */
export function countOf(r: Reader): number {
  const count = r.uint();
  if (count <= r.limits.messageBytes) return count;
  if (count >= 2 ** 53 && r.high >= 0x8000_0000) return 0;
  return r.fail("GOB_LIMIT_ELEMENTS", `${count} elements in a message of at most ${r.limits.messageBytes} bytes`);
}

/** Every key starts with a byte. Go does not check this for maps, and can be made to loop without reading. */
export function requireKey(r: Reader, count: number): void {
  if (r.at >= r.end) r.fail("GOB_LIMIT_ELEMENTS", `the frame ends inside a map of ${count} keys`);
}

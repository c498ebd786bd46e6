// Reads values by ops: what a schema became when it was matched to the types of one stream (decode-ops.ts).
// Ops are data, and the functions here are the same for every stream. Closures made for each stream read as fast in the
// end, but V8 has to learn and compile them anew with every connection, which on a snapshot costs more than reading it
// (bench/client).
import { lookUp } from "../schema/basics.ts";
import type { InterfaceNode, Node } from "../schema/schema.ts";
import type { StructShape, ValuesShape } from "../schema/zero.ts";
import type { Reader } from "./reader.ts";

export const opCode = {
  /** Anything that has no code of its own reads itself. */
  other: 0,
  text: 1,
  bool: 2,
  int: 3,
  uint: 4,
  bigInt: 5,
  bigUint: 6,
  slice: 7,
  array: 8,
  struct: 9,
  made: 10,
  interface: 11,
  singleton: 12,
} as const;

/** One shape for all of them, so that whoever looks at one knows where to look. What a code does not need is left as it is. */
export type Op = {
  code: (typeof opCode)[keyof typeof opCode];
  read: (r: Reader) => unknown;
  /** Integers: their width, and one more than the largest number. */
  bits: number;
  top: number;
  /** Arrays: how many. */
  length: number;
  /** Of slices, arrays and singletons: what they hold. */
  elem: Op | undefined;
  struct: StructPlan | undefined;
  holder: Holder | undefined;
};

/** A received field: what reads it, and which of the schema's fields it is, by name and by place; -1 for none. */
export type Slot = { readonly name: string; readonly index: number; readonly op: Op };

/** What a received struct becomes: an object, or what `make` makes of the values. */
export type StructPlan = {
  readonly slots: readonly Slot[];
  readonly shape: StructShape;
  readonly values: ValuesShape;
  readonly make: ((values: readonly unknown[]) => unknown) | undefined;
};

/**
 * An interface. Values of one type tend to follow each other, so what was found out for the last is kept at hand; what it was
 * compiled for says whether it holds for the next, which may be another stream's.
 */
export type Holder = {
  readonly node: InterfaceNode;
  named: { readonly bytes: Uint8Array; readonly type: string; readonly target: Node } | undefined;
  typed: { readonly target: Node; readonly id: number; readonly table: object; readonly op: Op } | undefined;
};

export function newOp(code: Op["code"], parts: Partial<Op> = {}): Op {
  return {
    code,
    read: parts.read ?? readNothing,
    bits: parts.bits ?? 0,
    top: parts.top ?? 0,
    length: parts.length ?? 0,
    elem: parts.elem,
    struct: parts.struct,
    holder: parts.holder,
  };
}

export function readBy(r: Reader, op: Op): unknown {
  switch (op.code) {
    case opCode.text:
      return r.string();
    case opCode.bool:
      return r.uint() !== 0;
    case opCode.int:
      return readInt(r, op);
    case opCode.uint:
      return readUint(r, op);
    case opCode.bigInt:
      return readBigInt(r, op);
    case opCode.bigUint:
      return readBigUint(r, op);
    case opCode.slice:
      return readSlice(r, op);
    case opCode.array:
      return readArray(r, op);
    case opCode.struct:
      return readStruct(r, op.struct as StructPlan); // an op has what its code needs, here and below
    case opCode.made:
      return readMade(r, op.struct as StructPlan);
    case opCode.interface:
      return readInterface(r, op.holder as Holder);
    case opCode.singleton:
      if (r.uint() !== 0) r.fail("GOB_SINGLETON", "a value that is no struct must start with a zero byte");
      return readBy(r, op.elem as Op);
    case opCode.other:
      return op.read(r);
  }
}

function readInt(r: Reader, { bits, top }: Op): number {
  const value = r.int();
  if (value >= -top && value < top) return value;
  return r.fail(bits === 64 ? "GOB_UNSAFE_INTEGER" : "GOB_OUT_OF_RANGE", `an integer does not fit int${bits}`);
}

function readUint(r: Reader, { bits, top }: Op): number {
  const value = r.uint();
  if (value < top) return value;
  return r.fail(bits === 64 ? "GOB_UNSAFE_INTEGER" : "GOB_OUT_OF_RANGE", `an integer does not fit uint${bits}`);
}

function readBigInt(r: Reader, { bits }: Op): bigint {
  const value = r.bigInt();
  return BigInt.asIntN(bits, value) === value ? value : r.fail("GOB_OUT_OF_RANGE", `${value} does not fit int${bits}`);
}

function readBigUint(r: Reader, { bits }: Op): bigint {
  const value = r.bigUint();
  return BigInt.asUintN(bits, value) === value
    ? value
    : r.fail("GOB_OUT_OF_RANGE", `${value} does not fit uint${bits}`);
}

function readSlice(r: Reader, op: Op): unknown[] {
  const count = r.uint();
  if (count > r.limits.messageBytes) r.fail("GOB_LIMIT_ELEMENTS", `a slice of ${count} elements`);
  return readElements(r, count, op.elem as Op);
}

function readArray(r: Reader, op: Op): unknown[] {
  const count = r.uint();
  if (count !== op.length) r.fail("GOB_ARRAY_LENGTH", `${count} elements for an array of ${op.length}`);
  return readElements(r, count, op.elem as Op);
}

function readElements(r: Reader, count: number, elem: Op): unknown[] {
  r.enterElements(count);
  const list: unknown[] = [];
  for (let i = 0; i < count; i++) {
    if (r.at >= r.end) r.fail("GOB_SHORT_DATA", `the frame ends inside ${count} elements`);
    list.push(readBy(r, elem));
  }
  r.depth--;
  return list;
}

function readStruct(r: Reader, { slots, shape }: StructPlan): unknown {
  r.enter();
  const value = { ...shape.template };
  for (let number = -1; r.at < r.end; ) {
    const delta = r.uint();
    if (delta === 0) break;
    number += delta;
    const slot = slots[number];
    if (slot === undefined) return r.fail("GOB_FIELD_NUMBER", `field ${number} of a struct with ${slots.length}`);
    const read = readBy(r, slot.op);
    if (slot.index >= 0) value[slot.name] = read;
  }
  for (const { name, zero, elements } of shape.own) {
    if (value[name] !== undefined) continue;
    if (elements > 0) r.countElements(elements);
    value[name] = zero();
  }
  r.depth--;
  return value;
}

// As readStruct(), with the values in an array until they are made into something.
function readMade(r: Reader, { slots, values: { zeros, own }, make }: StructPlan): unknown {
  r.enter();
  const values = zeros.slice();
  for (let number = -1; r.at < r.end; ) {
    const delta = r.uint();
    if (delta === 0) break;
    number += delta;
    const slot = slots[number];
    if (slot === undefined) return r.fail("GOB_FIELD_NUMBER", `field ${number} of a struct with ${slots.length}`);
    const read = readBy(r, slot.op);
    if (slot.index >= 0) values[slot.index] = read;
  }
  for (const { index, zero, elements } of own) {
    if (values[index] !== undefined) continue;
    if (elements > 0) r.countElements(elements);
    values[index] = zero();
  }
  r.depth--;
  return make?.(values);
}

function readInterface(r: Reader, holder: Holder): { type: string; value: unknown } | null {
  const length = r.uint();
  if (length > r.end - r.at) r.fail("GOB_SHORT_DATA", `a name of ${length} bytes, ${r.end - r.at} left`);
  if (length === 0) return null;
  if (length > 1024) r.fail("GOB_NAME_TOO_LONG", `a name of ${length} bytes`);
  let { named, typed } = holder;
  if (named === undefined || !r.isNext(named.bytes, length)) {
    named = readName(r, length, holder.node);
    holder.named = named;
  } else r.at += length;
  const { type, target } = named;
  const id = r.types.typeSequence(r);
  r.uint(); // the length of the value; Go does not look at it either
  r.enter();
  const { table } = r.types;
  if (typed === undefined || typed.target !== target || typed.id !== id || typed.table !== table) {
    typed = { target, id, table, op: r.types.valueOp(r, id, target) as Op }; // type-stream.ts compiles to ops
    holder.typed = typed;
  }
  const value = readBy(r, typed.op);
  r.depth--;
  return { type, value };
}

function readName(r: Reader, length: number, node: InterfaceNode): NonNullable<Holder["named"]> {
  const bytes = r.data.slice(r.at, r.at + length);
  const type = r.text(length);
  const target = lookUp(type, node);
  if (target === undefined) return r.fail("GOB_UNKNOWN_NAME", `${JSON.stringify(type)} is not registered`);
  return { bytes, type, target };
}

function readNothing(): undefined {
  return undefined;
}

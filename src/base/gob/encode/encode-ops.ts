// Compiles a schema to closures that write values: once per schema, whatever the number of streams and messages.

import { GobError } from "../error.ts";
import { lookUp } from "../schema/basics.ts";
import { base, type InterfaceNode, type MapNode, type Node, resolve, type StructNode } from "../schema/schema.ts";
import { asArray, asBytes, asComplex, asMap, asNumber, asObject, inField, mismatch } from "../schema/value-checks.ts";
import { TypeTable } from "./type-table.ts";
import { Writer } from "./writer.ts";

/** How a value is written as an element, and whether a struct leaves a field with this value out. */
type Ops = { write: (w: Writer, value: unknown) => void; omits: (value: unknown) => boolean };

/** `field` is both in one call, with the distance from the field before: false where the field was left out. */
export type WriteOp = Ops & { field: (w: Writer, delta: number, value: unknown) => boolean };

const compiled = new WeakMap<Node, WriteOp>();

export function writeOp(node: Node): WriteOp {
  const target = resolve(node);
  const known = compiled.get(target);
  if (known !== undefined) return known;
  // Set before it is filled, so that a recursive type finds itself.
  const op: WriteOp = { write: refuse, omits: refuse, field: refuse };
  compiled.set(target, op);
  const ops = compile(target);
  return Object.assign(op, { field: fieldOf(ops) }, ops);
}

function fieldOf({ write, omits }: Ops): WriteOp["field"] {
  return (w, delta, value) => {
    if (omits(value)) return false;
    w.uint(delta);
    write(w, value);
    return true;
  };
}

function refuse(): never {
  throw new GobError("GOB_SCHEMA", "a schema refers to itself with nothing in between");
}

/** Writes a value as the payload of a message or an interface: a struct as it is, anything else behind a zero byte. */
export function writePayload(node: Node): (w: Writer, value: unknown) => void {
  const { write } = writeOp(node);
  if (base(node).kind === "struct") return write;
  return (w, value) => {
    w.byte(0);
    write(w, value);
  };
}

function compile(node: ReturnType<typeof resolve>): Ops & Partial<WriteOp> {
  switch (node.kind) {
    case "bool":
      return { write: writeBool, omits: (value) => value === false || value === undefined };
    case "int":
    case "uint":
      return integer(node.kind, node.bits);
    case "float":
      return floatOp(node.bits);
    case "complex":
      return complexOp(node.bits);
    case "string":
      return textOp;
    case "bytes":
      return node.isText ? textOp : bytesOp;
    case "slice":
      return sliceOp(node.elem);
    case "array":
      return arrayOp(node.elem, node.length);
    case "map":
      return mapOp(node);
    case "struct":
      return structOp(node);
    case "interface":
      return interfaceOp(node);
    case "opaque":
      return {
        write: (w, value) => w.byteString(node.encode(value ?? node.zero())),
        omits: (value) => value === undefined || node.isZero(value),
      };
    case "pointer":
      return pointerOp(node.to);
    case "raw":
      return { write: (w, value) => w.raw(asBytes(value)), omits: () => false };
  }
}

const noBytes = new Uint8Array(0);

const textOp: WriteOp = {
  write: (w, value) => (typeof value === "string" ? w.string(value) : mismatch("a string", value)),
  omits: (value) => value === "" || value === undefined,
  field: (w, delta, value) => {
    if (value === "" || value === undefined) return false;
    if (typeof value !== "string") return mismatch("a string", value);
    w.uint(delta);
    w.string(value);
    return true;
  },
};

const bytesOp: WriteOp = {
  write: (w, value) => w.byteString(asBytes(value ?? noBytes)),
  omits: (value) => value === undefined || asBytes(value).length === 0,
  field: (w, delta, value) => {
    const bytes = asBytes(value ?? noBytes);
    if (bytes.length === 0) return false;
    w.uint(delta);
    w.byteString(bytes);
    return true;
  },
};

function writeBool(w: Writer, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean") mismatch("a boolean", value);
  w.byte(value ? 1 : 0);
}

function integer(kind: "int" | "uint", bits: number): WriteOp {
  const top = 2 ** (kind === "int" ? bits - 1 : bits);
  const least = kind === "int" ? -top : 0;
  const bigTop = BigInt(top);
  const bigLeast = BigInt(least);
  const write = (w: Writer, value: unknown): void => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value < top) {
      if (kind === "uint") w.uint(value);
      else if (value < 2 ** 51 && value > -(2 ** 51)) w.int(value);
      else w.bigInt(BigInt(value));
    } else if (typeof value === "bigint" && value >= bigLeast && value < bigTop) {
      if (kind === "uint") w.bigUint(value);
      else w.bigInt(value);
    } else if (value === undefined) w.byte(0);
    else mismatch(`a whole number that fits ${kind}${bits}`, value);
  };
  // Falsiness first: comparing a bigint with 0n costs more than asking whether it is false.
  const omits = (value: unknown): boolean =>
    !value && (value === 0 || value === undefined || typeof value === "bigint");
  const field = (w: Writer, delta: number, value: unknown): boolean => {
    if (omits(value)) return false;
    w.uint(delta);
    write(w, value);
    return true;
  };
  return { write, omits, field };
}

function floatOp(bits: 32 | 64): Ops {
  const write = bits === 64 ? (w: Writer, value: unknown) => w.float(asNumber(value)) : writeFloat32;
  // Both zeros: Go compares with ==, so a field of -0 is left out as well.
  return { write, omits: (value) => value === undefined || value === 0 };
}

function writeFloat32(w: Writer, value: unknown): void {
  const wide = asNumber(value);
  const narrow = Math.fround(wide);
  if (Number.isFinite(wide) && !Number.isFinite(narrow)) mismatch("a number that fits float32", value);
  w.float(narrow);
}

function complexOp(bits: 32 | 64): Ops {
  const part = floatOp(bits);
  return {
    write: (w, value) => {
      const { re, im } = asComplex(value);
      part.write(w, re);
      part.write(w, im);
    },
    omits: (value) => value === undefined || (part.omits(asComplex(value).re) && part.omits(asComplex(value).im)),
  };
}

function sliceOp(elem: Node): Ops {
  const op = writeOp(elem);
  return {
    write: (w, value) => {
      const list = asArray(value ?? []);
      w.uint(list.length);
      for (let i = 0; i < list.length; i++) op.write(w, list[i]);
    },
    omits: (value) => value === undefined || asArray(value).length === 0,
  };
}

function arrayOp(elem: Node, length: number): Ops {
  const op = writeOp(elem);
  const write = (w: Writer, value: unknown): void => {
    const list = asArray(value ?? new Array(length).fill(undefined));
    if (list.length !== length) mismatch(`an array of ${length} elements`, value);
    w.uint(length);
    for (let i = 0; i < length; i++) op.write(w, list[i]);
  };
  return { write, omits: () => false };
}

function mapOp(node: MapNode): Ops {
  const key = writeOp(node.key);
  const elem = writeOp(node.elem);
  const write = (w: Writer, value: unknown): void => {
    const entries = asMap(value ?? new Map());
    w.uint(entries.size);
    for (const [k, v] of entries) {
      key.write(w, k);
      elem.write(w, v);
    }
  };
  return { write, omits: (value) => value === undefined || value === null };
}

function structOp(node: StructNode): Ops {
  if (node.make !== undefined) throw new GobError("GOB_SCHEMA", "made() is for decoding only");
  const names = node.fields.map((field) => field.name);
  const ops = node.fields.map((field) => fieldLater(writeOp(field.node)));
  const write = (w: Writer, value: unknown): void => {
    const object = asObject(value ?? {});
    let last = -1;
    let i = 0;
    try {
      for (; i < names.length; i++) {
        const write = ops[i] as WriteOp["field"]; // i is below the length of both
        if (write(w, i - last, object[names[i] as string])) last = i;
      }
    } catch (error) {
      throw inField(error, `${node.name}.${names[i]}`);
    }
    w.byte(0);
  };
  return { write, omits: () => false };
}

/** The closure itself, or a way to it where the type is recursive and the closure is not made yet. */
function fieldLater(op: WriteOp): WriteOp["field"] {
  return op.field === refuse ? (w, delta, value) => op.field(w, delta, value) : op.field;
}

function pointerOp(to: Node): Ops {
  const op = writeOp(to);
  // A pointer to a zero number is left out; one to a zero value that encodes itself is not. That is how Go does it.
  const isOpaque = base(to).kind === "opaque";
  return {
    write: (w, value) =>
      value === null || value === undefined ? mismatch("something but nil", value) : op.write(w, value),
    omits: (value) => value === null || value === undefined || (!isOpaque && op.omits(value)),
  };
}

/**
 * What an interface value of one type starts with: its name, and its id if every decoder knows it; else the type, whose
 * id is the encoder's. `lengthRoom` is how many bytes the length of the last value took.
 */
type Concrete = {
  readonly head: Uint8Array;
  readonly described: Node | undefined;
  readonly payload: (w: Writer, value: unknown) => void;
  lengthRoom: number;
};

function concreteOf(type: string, node: Node): Concrete {
  const types = new TypeTable();
  const isDescribed = types.entryOf(node) !== undefined;
  const w = new Writer(types, 64);
  w.byteString(new TextEncoder().encode(type));
  if (!isDescribed) w.typeId(node);
  return { head: w.take(), described: isDescribed ? node : undefined, payload: writePayload(node), lengthRoom: 1 };
}

function interfaceOp(node: InterfaceNode): WriteOp {
  // Filled when first used: a registry may name types that hold this very interface.
  const known = new Map<string, Concrete>();
  let last: { type: string; target: Concrete } | undefined;
  const concrete = (type: unknown): Concrete => {
    if (last !== undefined && last.type === type) return last.target;
    if (typeof type !== "string") return mismatch('{ type: "registered name", value }', type);
    const target = known.get(type) ?? make(type);
    last = { type, target };
    return target;
  };
  const make = (type: string): Concrete => {
    const target = lookUp(type, node);
    if (target === undefined) throw new GobError("GOB_UNKNOWN_NAME", `${JSON.stringify(type)} is not registered`);
    const made = concreteOf(type, target);
    known.set(type, made);
    return made;
  };
  const write = (w: Writer, value: unknown): void => {
    if (value === null || value === undefined) {
      w.byte(0);
      return;
    }
    const { type, value: content } = asObject(value);
    const target = concrete(type);
    w.raw(target.head);
    if (target.described !== undefined) w.typeId(target.described);
    const room = target.lengthRoom; // kept here: a value may hold another of its own type
    const start = w.openLength(room);
    target.payload(w, content);
    target.lengthRoom = w.closeLength(start, room);
  };
  const omits = (value: unknown): boolean => value === null || value === undefined;
  const field = (w: Writer, delta: number, value: unknown): boolean => {
    if (omits(value)) return false;
    w.uint(delta);
    write(w, value);
    return true;
  };
  return { write, omits, field };
}

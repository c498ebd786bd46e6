// Compiles a schema against the types of one stream to closures that read values.
// One TypeStream per stream: it holds the definitions received and what was compiled from them.
import { lookUp } from "./basics.ts";
import { isCompatible } from "./compatible.ts";
import { GobError } from "./error.ts";
import { checkHashable, hasPrimitiveKeys, setByValue } from "./map-keys.ts";
import type { Reader } from "./reader.ts";
import { type ReadOp, scalarOp } from "./scalar-ops.ts";
import { base, type InterfaceNode, type Node, resolve, type StructNode } from "./schema.ts";
import { countOf, requireKey, type SkipOp, Skippers } from "./skip-ops.ts";
import { TypeKeys } from "./type-keys.ts";
import { builtinTypes, firstUserId, type WireType, WireTypeSchema, wireTypeId } from "./wire-types.ts";
import { shapeOf, valuesOf } from "./zero.ts";

type OpRef = { read: ReadOp };
type Engine = { read: ReadOp; matchedFields: number };
type UnderWay = Map<string, OpRef>;
/** What reads a received field, and which of the schema's fields it is, by name and by place. */
type Slot = { name: string; index: number; read: ReadOp } | { name?: undefined; index?: undefined; read: SkipOp };

export class TypeStream {
  readonly types = new Map<number, WireType>();
  readonly #keys = new TypeKeys();
  readonly #skippers = new Skippers(this);
  readonly #engines = new Map<string, Engine>();

  /** Reads the id of a value, and on the way any definitions, which may go on over several frames. */
  typeSequence(r: Reader): number {
    for (;;) {
      if (r.at >= r.end) r.nextFrame();
      const id = readId(r);
      if (id >= 0) return id;
      this.define(r, -id);
      // Inside an interface value a definition is followed by the length of what comes next; it says nothing new.
      if (r.at < r.end) r.uint();
    }
  }

  /** Reads the definition of a type. */
  define(r: Reader, id: number): void {
    if (id < firstUserId || this.types.has(id)) r.fail("GOB_DUPLICATE_TYPE", `type ${id} is defined already`);
    if (this.types.size >= r.limits.types) r.fail("GOB_LIMIT_TYPES", `more than ${r.limits.types} types`);
    const { depth, elements } = r;
    r.depth = Math.min(0, r.limits.depth - 8); // definitions nest four deep by themselves
    const wire = readWireType(r);
    r.depth = depth;
    r.elements = elements;
    const fields = wire.StructT?.Field ?? [];
    if (fields.length > r.limits.fields) r.fail("GOB_LIMIT_FIELDS", `a struct of ${fields.length} fields`);
    if (new Set(fields.map((field) => field.Name)).size < fields.length) {
      r.fail("GOB_DUPLICATE_FIELD", `type ${id} has a field twice`);
    }
    this.types.set(id, wire);
  }

  /** As compile(); an error in it is reported where the value was met. */
  valueOp(r: Reader, id: number, node: Node): ReadOp {
    try {
      return this.compile(id, node);
    } catch (error) {
      if (!(error instanceof GobError)) throw error;
      throw new GobError(error.code, error.problem, { offset: r.streamOffset + r.at });
    }
  }

  /** What reads a value of a received type into the schema: the whole of a message, or what an interface holds. */
  compile(id: number, node: Node): ReadOp {
    const engine = this.#engine(node, id);
    const target = base(node);
    if (target.kind !== "struct") return singletonOp(engine.read);
    const sent = this.types.get(id)?.StructT?.Field.length ?? 0;
    if (engine.matchedFields === 0 && target.fields.length > 0 && sent > 0) {
      throw new GobError("GOB_TYPE_MISMATCH", `no field of ${target.name} is among those received`);
    }
    return engine.read;
  }

  #engine(node: Node, id: number): Engine {
    const key = `${id} ${this.#keys.keyOf(node)}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const engine: Engine = { read: () => undefined, matchedFields: 0 };
    this.#engines.set(key, engine); // before it is compiled: recursive types find it
    const target = base(node);
    if (target.kind === "struct") this.#compileStruct(engine, target, id);
    else {
      if (!this.#isCompatible(node, id)) throw new GobError("GOB_TYPE_MISMATCH", `type ${id} is no ${target.kind}`);
      engine.read = this.#opFor(node, id, new Map());
    }
    return engine;
  }

  #isCompatible(node: Node, id: number): boolean {
    return isCompatible(node, id, { types: this.types, keys: this.#keys, underWay: new Map() });
  }

  #compileStruct(engine: Engine, node: StructNode, id: number): void {
    const wire = (builtinTypes.get(id) ?? this.types.get(id))?.StructT;
    if (wire == null) throw new GobError("GOB_BAD_TYPE", `type ${id} is not defined as a struct`);
    const local = new Map(node.fields.map((field, index) => [field.name, { node: field.node, index }]));
    const underWay: UnderWay = new Map();
    const slots: Slot[] = wire.Field.map(({ Name: name, Id }) => {
      if (name === "") throw new GobError("GOB_BAD_TYPE", `a received field of ${wire.CommonType.Name} has no name`);
      const field = local.get(name);
      if (field === undefined) return { read: this.#skippers.opFor(Id) };
      if (!this.#isCompatible(field.node, Id)) {
        throw new GobError("GOB_TYPE_MISMATCH", `field ${node.name}.${name} has another type in the stream`);
      }
      engine.matchedFields++;
      return { name, index: field.index, read: this.#opFor(field.node, Id, underWay) };
    });
    engine.read = node.make === undefined ? structOp(slots, node) : madeOp(slots, node, node.make);
  }

  #opFor(node: Node, id: number, underWay: UnderWay): ReadOp {
    const target = base(node);
    const scalar = scalarOp(target);
    if (scalar !== undefined) return scalar;
    const key = this.#keys.keyOf(node);
    const known = underWay.get(key);
    if (known !== undefined) return (r) => known.read(r);
    const ref: OpRef = { read: () => undefined };
    underWay.set(key, ref);
    ref.read = this.#compositeOp(target, id, underWay);
    return ref.read;
  }

  #compositeOp(target: ReturnType<typeof base>, id: number, underWay: UnderWay): ReadOp {
    const wire = this.types.get(id);
    switch (target.kind) {
      case "array":
        return arrayOp(target.length, this.#opFor(target.elem, wire?.ArrayT?.Elem ?? 0, underWay));
      case "slice":
        return sliceOp(this.#opFor(target.elem, (builtinTypes.get(id) ?? wire)?.SliceT?.Elem ?? 0, underWay));
      case "map": {
        const key = this.#opFor(target.key, wire?.MapT?.Key ?? 0, underWay);
        return mapOp(target.key, key, this.#opFor(target.elem, wire?.MapT?.Elem ?? 0, underWay));
      }
      case "struct": {
        const engine = this.#engine(target, id);
        return (r) => engine.read(r);
      }
      case "interface":
        return this.#interfaceOp(target);
      default:
        throw new GobError("GOB_SCHEMA", `${target.kind} is compiled elsewhere`);
    }
  }

  #interfaceOp(node: InterfaceNode): ReadOp {
    // Values of one type tend to follow each other, so what was found out for the last is kept at hand.
    let named: { bytes: Uint8Array; type: string; target: Node } | undefined;
    let typed: { target: Node; id: number; read: ReadOp } | undefined;
    return (r) => {
      const length = r.uint();
      if (length > r.end - r.at) r.fail("GOB_SHORT_DATA", `a name of ${length} bytes, ${r.end - r.at} left`);
      if (length === 0) return null;
      if (length > 1024) r.fail("GOB_NAME_TOO_LONG", `a name of ${length} bytes`);
      if (named === undefined || !r.isNext(named.bytes, length)) named = readName(r, length, node);
      else r.at += length;
      const { type, target } = named;
      const id = this.typeSequence(r);
      r.uint(); // the length of the value; Go does not look at it either
      r.enter();
      if (typed?.target !== target || typed.id !== id) typed = { target, id, read: this.valueOp(r, id, target) };
      const value = typed.read(r);
      r.depth--;
      return { type, value };
    };
  }
}

function readName(r: Reader, length: number, node: InterfaceNode): { bytes: Uint8Array; type: string; target: Node } {
  const bytes = r.data.slice(r.at, r.at + length);
  const type = r.text(length);
  const target = lookUp(type, node);
  if (target === undefined) return r.fail("GOB_UNKNOWN_NAME", `${JSON.stringify(type)} is not registered`);
  return { bytes, type, target };
}

function singletonOp(read: ReadOp): ReadOp {
  return (r) => {
    if (r.uint() !== 0) r.fail("GOB_SINGLETON", "a value that is no struct must start with a zero byte");
    return read(r);
  };
}

/** A type id. Go cuts it to 32 bits; here it must fit. */
export function readId(r: Reader): number {
  const id = r.int();
  if (id > 0x7fff_ffff || id < -0x7fff_ffff) r.fail("GOB_LIMIT_TYPE_ID", "a type id beyond 31 bits");
  return id;
}

function structOp(slots: readonly Slot[], node: StructNode): ReadOp {
  const { template, own } = shapeOf(node);
  return (r) => {
    r.enter();
    const value = { ...template };
    for (let number = -1; r.at < r.end; ) {
      const delta = r.uint();
      if (delta === 0) break;
      number += delta;
      const slot = slots[number];
      if (slot === undefined) return r.fail("GOB_FIELD_NUMBER", `field ${number} of a struct with ${slots.length}`);
      if (slot.name === undefined) slot.read(r);
      else value[slot.name] = slot.read(r);
    }
    for (const { name, zero } of own) if (value[name] === undefined) value[name] = zero();
    r.depth--;
    return value;
  };
}

// As structOp, with the values in an array until they are made into something; bench/client measures it.
function madeOp(slots: readonly Slot[], node: StructNode, make: (values: readonly unknown[]) => unknown): ReadOp {
  const { zeros, own } = valuesOf(node);
  return (r) => {
    r.enter();
    const values = zeros.slice();
    for (let number = -1; r.at < r.end; ) {
      const delta = r.uint();
      if (delta === 0) break;
      number += delta;
      const slot = slots[number];
      if (slot === undefined) return r.fail("GOB_FIELD_NUMBER", `field ${number} of a struct with ${slots.length}`);
      if (slot.index === undefined) slot.read(r);
      else values[slot.index] = slot.read(r);
    }
    for (const { index, zero } of own) if (values[index] === undefined) values[index] = zero();
    r.depth--;
    return make(values);
  };
}

function sliceOp(elem: ReadOp): ReadOp {
  return (r) => {
    const count = r.uint();
    if (count > r.limits.messageBytes) r.fail("GOB_LIMIT_ELEMENTS", `a slice of ${count} elements`);
    return readElements(r, count, elem);
  };
}

function arrayOp(length: number, elem: ReadOp): ReadOp {
  return (r) => {
    const count = r.uint();
    if (count !== length) r.fail("GOB_ARRAY_LENGTH", `${count} elements for an array of ${length}`);
    return readElements(r, count, elem);
  };
}

function readElements(r: Reader, count: number, elem: ReadOp): unknown[] {
  r.enterElements(count);
  const list: unknown[] = [];
  for (let i = 0; i < count; i++) {
    if (r.at >= r.end) r.fail("GOB_SHORT_DATA", `the frame ends inside ${count} elements`);
    list.push(elem(r));
  }
  r.depth--;
  return list;
}

function mapOp(keyNode: Node, key: ReadOp, elem: ReadOp): ReadOp {
  const isPrimitive = hasPrimitiveKeys(keyNode);
  return (r) => {
    const count = countOf(r);
    r.enterElements(count);
    const into = new Map<unknown, unknown>();
    const seen = new Map<string, unknown>();
    for (let i = 0; i < count; i++) {
      requireKey(r, count);
      const k = key(r);
      if (!isPrimitive) checkHashable(r, k);
      const v = elem(r);
      if (isPrimitive) into.set(k, v);
      else setByValue(into, seen, [k, v]);
    }
    r.depth--;
    return into;
  };
}

const wireTypeOp = new TypeStream().compile(wireTypeId, WireTypeSchema);

function readWireType(r: Reader): WireType {
  // The schema says what the closures make, and the schema is WireTypeSchema.
  return wireTypeOp(r) as WireType;
}

/** A schema that can be decoded: raw() can only be written. */
export function checkDecodable(node: Node, seen: Set<Node> = new Set()): void {
  const target = resolve(node);
  if (seen.has(target)) return;
  seen.add(target);
  if (target.kind === "raw") throw new GobError("GOB_SCHEMA", "raw() is for encoding only");
  if (target.kind === "pointer") checkDecodable(target.to, seen);
  if (target.kind === "struct") for (const field of target.fields) checkDecodable(field.node, seen);
  if (target.kind === "slice" || target.kind === "array") checkDecodable(target.elem, seen);
  if (target.kind === "map") for (const part of [target.key, target.elem]) checkDecodable(part, seen);
  if (target.kind === "interface") for (const part of target.registry().values()) checkDecodable(part, seen);
}

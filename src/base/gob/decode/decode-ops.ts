// Compiles a schema against the types of one stream to ops that read values (read-ops.ts).
// One TypeStream per stream: it holds the definitions received and what was compiled from them.

import { GobError } from "../error.ts";
import { canonicalKey, hasPrimitiveKeys, setByValue } from "../schema/map-keys.ts";
import { base, type Node, type StructNode } from "../schema/schema.ts";
import { builtinTypes, firstUserId, type WireType, WireTypeSchema, wireTypeId } from "../schema/wire-types.ts";
import { isCompatible } from "./compatible.ts";
import { KnownDefinitions } from "./known-definitions.ts";
import { newOp, type Op, opCode, readBy, type Slot } from "./read-ops.ts";
import type { Reader } from "./reader.ts";
import { scalarOp } from "./scalar-ops.ts";
import { factsOf } from "./schema-facts.ts";
import { countOf, requireKey, Skippers } from "./skip-ops.ts";
import { TypeKeys } from "./type-keys.ts";

type Engine = { op: Op; matchedFields: number };
type UnderWay = Map<string, Op>;

export class TypeStream {
  readonly types = new Map<number, WireType>();
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
    const known = knownDefinitions.find(r.data, r.at, r.end);
    if (known !== undefined && fieldsOf(known).length <= r.limits.fields) {
      r.at = r.end;
      this.types.set(id, known);
      return;
    }
    const { depth, elements, at } = r;
    r.depth = Math.min(0, r.limits.depth - 8); // definitions nest four deep by themselves
    r.elements = r.limits.elements - r.limits.fields; // fields are their only elements, and have a limit of their own
    const wire = readWireType(r);
    r.depth = depth;
    r.elements = elements;
    const fields = fieldsOf(wire);
    if (new Set(fields.map((field) => field.Name)).size < fields.length) {
      r.fail("GOB_DUPLICATE_FIELD", `type ${id} has a field twice`);
    }
    this.types.set(id, wire);
    if (known === undefined && r.at === r.end) knownDefinitions.keep(r.data.subarray(at, r.end), wire);
  }

  /** As compile(); an error in it is reported where the value was met. */
  valueOp(r: Reader, id: number, node: Node): Op {
    try {
      return this.compile(id, node);
    } catch (error) {
      if (!(error instanceof GobError)) throw error;
      throw new GobError(error.code, error.problem, { offset: r.streamOffset + r.at });
    }
  }

  /** What reads a value of a received type into the schema: the whole of a message, or what an interface holds. */
  compile(id: number, node: Node): Op {
    const engine = this.#engine(node, id);
    const target = base(node);
    if (target.kind !== "struct") return newOp(opCode.singleton, { elem: engine.op });
    const sent = this.types.get(id)?.StructT?.Field.length ?? 0;
    if (engine.matchedFields === 0 && target.fields.length > 0 && sent > 0) {
      throw new GobError("GOB_TYPE_MISMATCH", `no field of ${target.name} is among those received`);
    }
    return engine.op;
  }

  #engine(node: Node, id: number): Engine {
    const key = `${id} ${typeKeys.keyOf(node)}`;
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const engine: Engine = { op: newOp(opCode.other), matchedFields: 0 };
    this.#engines.set(key, engine); // before it is compiled: recursive types find its op, which is filled in later
    const target = base(node);
    if (target.kind === "struct") this.#compileStruct(engine, target, id);
    else {
      if (!this.#isCompatible(node, id)) throw new GobError("GOB_TYPE_MISMATCH", `type ${id} is no ${target.kind}`);
      engine.op = this.#opFor(node, id, new Map());
    }
    return engine;
  }

  #isCompatible(node: Node, id: number): boolean {
    return isCompatible(node, id, { types: this.types, keys: typeKeys, underWay: new Map() });
  }

  #compileStruct(engine: Engine, node: StructNode, id: number): void {
    const wire = (builtinTypes.get(id) ?? this.types.get(id))?.StructT;
    if (wire == null) throw new GobError("GOB_BAD_TYPE", `type ${id} is not defined as a struct`);
    const { places, shape, values } = factsOf(node);
    const underWay: UnderWay = new Map();
    const slots = wire.Field.map(({ Name: name, Id }): Slot => {
      if (name === "") throw new GobError("GOB_BAD_TYPE", `a received field of ${wire.CommonType.Name} has no name`);
      const field = places.get(name);
      if (field === undefined) return { name, index: -1, op: newOp(opCode.other, { read: this.#skippers.opFor(Id) }) };
      if (!this.#isCompatible(field.node, Id)) {
        throw new GobError("GOB_TYPE_MISMATCH", `field ${node.name}.${name} has another type in the stream`);
      }
      engine.matchedFields++;
      return { name, index: field.index, op: this.#opFor(field.node, Id, underWay) };
    });
    engine.op.code = node.make === undefined ? opCode.struct : opCode.made;
    engine.op.struct = { slots, shape, values, make: node.make };
  }

  #opFor(node: Node, id: number, underWay: UnderWay): Op {
    const target = base(node);
    const scalar = scalarOp(target);
    if (scalar !== undefined) return scalar;
    const key = typeKeys.keyOf(node);
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const op = target.kind === "struct" ? this.#engine(target, id).op : newOp(opCode.other);
    underWay.set(key, op);
    if (target.kind !== "struct") this.#fill(op, target, { id, underWay });
    return op;
  }

  #fill(op: Op, target: ReturnType<typeof base>, { id, underWay }: { id: number; underWay: UnderWay }): void {
    const wire = this.types.get(id);
    switch (target.kind) {
      case "array":
        op.length = target.length;
        op.elem = this.#opFor(target.elem, wire?.ArrayT?.Elem ?? 0, underWay);
        op.code = opCode.array;
        return;
      case "slice":
        op.elem = this.#opFor(target.elem, (builtinTypes.get(id) ?? wire)?.SliceT?.Elem ?? 0, underWay);
        op.code = opCode.slice;
        return;
      case "map": {
        const key = this.#opFor(target.key, wire?.MapT?.Key ?? 0, underWay);
        op.read = mapReader(target.key, key, this.#opFor(target.elem, wire?.MapT?.Elem ?? 0, underWay));
        return;
      }
      case "interface":
        op.holder = { stream: this, node: target, named: undefined, typed: undefined };
        op.code = opCode.interface;
        return;
      default:
        throw new GobError("GOB_SCHEMA", `${target.kind} is compiled elsewhere`);
    }
  }
}

/** A type id. Go cuts it to 32 bits; here it must fit. */
export function readId(r: Reader): number {
  const id = r.int();
  if (id > 0x7fff_ffff || id < -0x7fff_ffff) r.fail("GOB_LIMIT_TYPE_ID", "a type id beyond 31 bits");
  return id;
}

function mapReader(keyNode: Node, key: Op, elem: Op): Op["read"] {
  const isPrimitive = hasPrimitiveKeys(keyNode);
  return (r) => {
    const count = countOf(r);
    r.enterElements(count);
    const into = new Map<unknown, unknown>();
    const seen = new Map<string, unknown>();
    for (let i = 0; i < count; i++) {
      requireKey(r, count);
      const k = readBy(r, key);
      const canonical = isPrimitive ? "" : canonicalKey(r, keyNode, k);
      const v = readBy(r, elem);
      if (isPrimitive) into.set(k, v);
      else setByValue(into, seen, { canonical, key: k, elem: v });
    }
    r.depth--;
    return into;
  };
}

/** These two are the same for all streams. */
const typeKeys = new TypeKeys();
const knownDefinitions = new KnownDefinitions();

function fieldsOf(wire: WireType): NonNullable<WireType["StructT"]>["Field"] {
  return wire.StructT?.Field ?? [];
}

const wireTypeOp = new TypeStream().compile(wireTypeId, WireTypeSchema);

function readWireType(r: Reader): WireType {
  try {
    // The schema says what its op reads, and the schema is WireTypeSchema.
    return readBy(r, wireTypeOp) as WireType;
  } catch (error) {
    if (!(error instanceof GobError) || error.code !== "GOB_LIMIT_ELEMENTS") throw error;
    return r.fail("GOB_LIMIT_FIELDS", `a struct of more than ${r.limits.fields} fields`);
  }
}

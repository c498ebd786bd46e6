// Compiles a schema against received types to ops that read values (read-ops.ts).
// One TypeTable for each set of definitions: streams that had the same ones share it, with what was compiled from them.

import { GobError } from "../error.ts";
import { canonicalKey, hasPrimitiveKeys, setByValue } from "../schema/map-keys.ts";
import { base, type Node, type StructNode } from "../schema/schema.ts";
import { builtinTypes, type WireType } from "../schema/wire-types.ts";
import { isCompatible } from "./compatible.ts";
import { newOp, type Op, opCode, readBy, type Slot } from "./read-ops.ts";
import { scalarOp } from "./scalar-ops.ts";
import { factsOf } from "./schema-facts.ts";
import { countOf, requireKey, Skippers } from "./skip-ops.ts";
import { TypeKeys } from "./type-keys.ts";

type Engine = { op: Op; matchedFields: number };
type UnderWay = Map<string, Op>;

export class TypeTable {
  readonly types: Map<number, WireType>;
  #skippers: Skippers;
  readonly #engines = new Map<string, Engine>();

  constructor(types: Iterable<readonly [number, WireType]> = []) {
    this.types = new Map(types);
    this.#skippers = new Skippers(this.types);
  }

  /** What reads a value of a received type into the schema: the whole of a message, or what an interface holds. */
  compile(id: number, node: Node): Op {
    try {
      return this.#compile(id, node);
    } catch (error) {
      // What was begun would be found by the next stream that has this table.
      this.#engines.clear();
      this.#skippers = new Skippers(this.types);
      throw error;
    }
  }

  #compile(id: number, node: Node): Op {
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
        op.holder = { node: target, named: undefined, typed: undefined };
        op.code = opCode.interface;
        return;
      default:
        throw new GobError("GOB_SCHEMA", `${target.kind} is compiled elsewhere`);
    }
  }
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

/** The same for all tables. */
const typeKeys = new TypeKeys();

// Streams from nothing: the definitions of a schema as some other program might have them (fields in another order,
// missing, added, of another type; ids and order of definitions anyhow), and a value for them.
import { base, type Node } from "../../src/base/gob/schema/schema.ts";
import { typeId } from "../../src/base/gob/schema/wire-types.ts";
import type { Random } from "../kit/random.ts";
import { joinFrames } from "./gob-mutate.ts";

type Wire =
  | { kind: "basic"; id: number }
  | { kind: "slice" | "opaque"; id: number; elem: Wire; field: number }
  | { kind: "array"; id: number; elem: Wire; length: number }
  | { kind: "map"; id: number; key: Wire; elem: Wire }
  | { kind: "struct"; id: number; fields: { name: string; type: Wire }[] };

const fieldNames = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "X", "Y", "Z", "Name", "V", "Value", "x"];
const interfaceNames: readonly [string, number][] = [
  ["string", 6],
  ["int", 2],
  ["int8", 2],
  ["uint64", 3],
  ["bool", 1],
  ["[]uint8", 5],
  ["float32", 4],
  ["complex64", 7],
  ["nobody", 6],
];

export function generate(random: Random, schema: Node): Uint8Array {
  const writer = new Generator(random);
  const type = writer.typeFor(schema, 0);
  return writer.stream(type);
}

class Generator {
  readonly #random: Random;
  readonly #types: Wire[] = [];
  readonly #known = new Map<Node, Wire>();
  #nextId: number;

  constructor(random: Random) {
    this.#random = random;
    this.#nextId = 64 + random.below(3) * 500;
  }

  typeFor(node: Node, depth: number): Wire {
    const random = this.#random;
    if (random.isOneIn(40)) return this.#anyType(depth);
    const target = base(node);
    const known = this.#known.get(target);
    if (known !== undefined && !random.isOneIn(5)) return known;
    if (depth > 6) return { kind: "basic", id: 2 };
    switch (target.kind) {
      case "slice":
        return this.#slice(target, depth);
      case "array":
        return this.#add({ kind: "array", id: 0, elem: this.typeFor(target.elem, depth + 1), length: target.length });
      case "map": {
        const made = { kind: "map", id: 0, key: placeholder, elem: placeholder } as const;
        const wire: Extract<Wire, { kind: "map" }> = { ...made };
        this.#known.set(target, wire);
        this.#add(wire);
        wire.key = this.typeFor(target.key, depth + 1);
        wire.elem = this.typeFor(target.elem, depth + 1);
        return wire;
      }
      case "opaque":
        return this.#add({ kind: "opaque", id: 0, elem: placeholder, field: target.form === "gob" ? 5 : 6 });
      case "struct":
        return this.#struct(target, depth);
      default:
        return { kind: "basic", id: typeId[target.kind] };
    }
  }

  #slice(target: Extract<Node, { kind: "slice" }>, depth: number): Wire {
    const wire: Extract<Wire, { kind: "slice" | "opaque" }> = { kind: "slice", id: 0, elem: placeholder, field: 2 };
    this.#known.set(target, wire);
    this.#add(wire);
    wire.elem = this.typeFor(target.elem, depth + 1);
    return wire;
  }

  #struct(target: Extract<Node, { kind: "struct" }>, depth: number): Wire {
    const random = this.#random;
    const wire: Extract<Wire, { kind: "struct" }> = { kind: "struct", id: 0, fields: [] };
    this.#known.set(target, wire);
    this.#add(wire);
    for (const { name, node } of target.fields) {
      if (random.isOneIn(6)) continue;
      wire.fields.splice(random.below(wire.fields.length + 1), 0, { name, type: this.typeFor(node, depth + 1) });
    }
    while (random.isOneIn(3)) {
      const name = random.pick(fieldNames);
      if (wire.fields.some((field) => field.name === name)) continue;
      const field = { name, type: this.#anyType(depth + 1) };
      wire.fields.splice(random.below(wire.fields.length + 1), 0, field);
    }
    return wire;
  }

  #anyType(depth: number): Wire {
    const random = this.#random;
    const kind = random.below(depth > 5 ? 3 : 9);
    if (kind === 3) return this.#add({ kind: "slice", id: 0, elem: this.#anyType(depth + 1), field: 2 });
    if (kind === 4) return this.#add({ kind: "array", id: 0, elem: this.#anyType(depth + 1), length: random.below(4) });
    if (kind === 5)
      return this.#add({ kind: "map", id: 0, key: this.#anyType(depth + 1), elem: this.#anyType(depth + 1) });
    if (kind === 6) return this.#add({ kind: "opaque", id: 0, elem: placeholder, field: 5 + random.below(3) });
    if (kind === 7 && this.#types.length > 0) return random.pick(this.#types);
    if (kind === 8) return this.#struct({ kind: "struct", name: "", fields: [] }, depth);
    return { kind: "basic", id: 1 + random.below(8) };
  }

  #add(wire: Wire): Wire {
    wire.id = this.#nextId++;
    this.#types.push(wire);
    return wire;
  }

  stream(type: Wire): Uint8Array {
    const random = this.#random;
    const frames: Uint8Array[] = [];
    for (const wire of this.#types) frames.splice(random.below(frames.length + 1), 0, definition(wire));
    const values = 1 + random.below(2);
    for (let i = 0; i < values; i++) {
      const out: number[] = [];
      int(out, type.id);
      if (type.kind !== "struct") out.push(0);
      this.#value(out, type, 0);
      frames.push(Uint8Array.from(out));
    }
    return joinFrames(frames);
  }

  #value(out: number[], type: Wire, depth: number): void {
    const random = this.#random;
    const count = depth > 5 ? 0 : random.below(4);
    switch (type.kind) {
      case "basic":
        this.#basic(out, type.id, depth);
        return;
      case "slice":
        uint(out, count);
        for (let i = 0; i < count; i++) this.#value(out, type.elem, depth + 1);
        return;
      case "array":
        uint(out, type.length);
        for (let i = 0; i < type.length; i++) this.#value(out, type.elem, depth + 1);
        return;
      case "map":
        uint(out, count);
        for (let i = 0; i < count; i++) {
          this.#value(out, type.key, depth + 1);
          this.#value(out, type.elem, depth + 1);
        }
        return;
      case "opaque":
        this.#opaque(out);
        return;
      case "struct": {
        let last = -1;
        for (const [number, field] of type.fields.entries()) {
          if (random.isOneIn(3) || depth > 8) continue;
          uint(out, number - last);
          last = number;
          this.#value(out, field.type, depth + 1);
        }
        out.push(0);
      }
    }
  }

  #opaque(out: number[]): void {
    const random = this.#random;
    if (random.isOneIn(2)) {
      out.push(15, 1, 0, 0, 0, random.below(20), random.below(256), 0, 0, 1, random.below(60), 0, 0, random.below(256));
      out.push(random.pick([0, 0xff]), random.below(256));
    } else this.#basic(out, typeId.bytes, 0);
  }

  #basic(out: number[], id: number, depth: number): void {
    const random = this.#random;
    if (id === typeId.bytes || id === typeId.string) {
      const count = random.below(6);
      out.push(count);
      for (let i = 0; i < count; i++) out.push(random.isOneIn(8) ? random.below(256) : 97 + random.below(26));
    } else if (id === typeId.interface) {
      if (random.isOneIn(3) || depth > 6) out.push(0);
      else this.#interface(out);
    } else {
      this.#number(out);
      if (id === typeId.complex) this.#number(out);
    }
  }

  #interface(out: number[]): void {
    const [name, id] = this.#random.pick(interfaceNames);
    out.push(name.length, ...Buffer.from(name));
    int(out, id);
    const value: number[] = [0];
    this.#basic(value, id, 9);
    uint(out, value.length);
    out.push(...value);
  }

  #number(out: number[]): void {
    const random = this.#random;
    const width = random.below(9);
    if (width === 0 || random.isOneIn(2)) {
      out.push(random.below(128));
      return;
    }
    out.push(0x100 - width);
    for (let i = 0; i < width; i++) out.push(random.below(256));
  }
}

const placeholder: Wire = { kind: "basic", id: 2 };

function definition(wire: Wire): Uint8Array {
  const out: number[] = [];
  int(out, -wire.id);
  switch (wire.kind) {
    case "slice":
      out.push(2, 2);
      int(out, wire.elem.id);
      break;
    case "array":
      out.push(1, 2);
      int(out, wire.elem.id);
      out.push(1);
      int(out, wire.length);
      break;
    case "map":
      out.push(4, 2);
      int(out, wire.key.id);
      out.push(1);
      int(out, wire.elem.id);
      break;
    case "struct":
      out.push(3);
      if (wire.fields.length > 0) out.push(2, wire.fields.length);
      for (const { name, type } of wire.fields) {
        out.push(1, name.length, ...Buffer.from(name), 1);
        int(out, type.id);
        out.push(0);
      }
      break;
    case "opaque":
      out.push(wire.field);
  }
  out.push(0, 0);
  return Uint8Array.from(out);
}

function uint(out: number[], value: number): void {
  if (value < 0x80) out.push(value);
  else if (value < 0x100) out.push(0xff, value);
  else out.push(0xfe, value >> 8, value & 0xff);
}

function int(out: number[], value: number): void {
  uint(out, value < 0 ? -value * 2 - 1 : value * 2);
}

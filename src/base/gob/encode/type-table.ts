// The type ids of one encoder and the definitions that announce them.
// Ids are handed out as Go does it (a struct before its fields, everything else after its parts), from 65 upwards: 64
// is taken by no old Go release, so 65 is safe with all of them.
import { GobError } from "../error.ts";
import { base, type Node } from "../schema/schema.ts";
import { typeId } from "../schema/wire-types.ts";
import { type Described, type TypeEntry, Writer } from "./writer.ts";

const firstId = 65;
// Field numbers of gob's own wireType struct.
const definitionField = { array: 1, slice: 2, struct: 3, map: 4, gob: 5, binary: 6, text: 7 } as const;

export class TypeTable {
  readonly #entries = new Map<Node, TypeEntry>();
  readonly #byShape = new Map<string, TypeEntry>();
  #nextId = firstId;

  /** The id of a schema's type, handed out now if it has none yet. */
  idOf(node: Node): number {
    const target = base(node);
    if (isDescribed(target)) return this.#entry(target).id;
    return typeId[target.kind];
  }

  /** The definition of a schema's type, or undefined if every decoder knows it anyway. */
  entryOf(node: Node): TypeEntry | undefined {
    const target = base(node);
    return isDescribed(target) ? this.#entry(target) : undefined;
  }

  #entry(node: Described): TypeEntry {
    const known = this.#entries.get(node);
    if (known !== undefined) {
      // Reached again from inside itself: it needs its id now, whatever the order.
      if (known.id === 0) known.id = this.#nextId++;
      return known;
    }
    const entry: TypeEntry = { id: 0, node, parts: [] };
    this.#entries.set(node, entry);
    if (node.kind === "struct") entry.id = this.#nextId++;
    entry.parts = partsOf(node).flatMap((part) => this.entryOf(part) ?? []);
    if (entry.id !== 0) return entry;
    // Two slice(string()), or two time(), are two nodes but one Go type; one definition is enough for both.
    const kind = node.kind === "opaque" ? node.form : node.kind;
    const shape = `${kind} ${node.name} ${partsOf(node).map((part) => this.idOf(part))} ${lengthOf(node)}`;
    const twin = this.#byShape.get(shape);
    if (twin !== undefined) {
      this.#entries.set(node, twin);
      return twin;
    }
    entry.id = this.#nextId++;
    this.#byShape.set(shape, entry);
    return entry;
  }

  /** The frame that defines one type. */
  definition(entry: TypeEntry): Uint8Array<ArrayBuffer> {
    const { node, id } = entry;
    const w = new Writer(this, 128);
    const start = w.openLength(1);
    w.int(-id);
    w.byte(definitionField[node.kind === "opaque" ? node.form : node.kind]);
    w.byte(1);
    if (node.name !== "") {
      w.byte(1);
      w.string(node.name);
    }
    w.byte(node.name === "" ? 2 : 1);
    w.int(id);
    w.byte(0);
    this.#describe(w, node);
    w.byte(0);
    w.byte(0);
    w.closeLength(start, 1);
    return w.take();
  }

  #describe(w: Writer, node: Described): void {
    if (node.kind === "struct") {
      if (node.fields.length > 0) {
        w.byte(1);
        w.uint(node.fields.length);
      }
      for (const field of node.fields) {
        w.byte(1);
        w.string(field.name);
        w.byte(1);
        w.int(this.idOf(field.node));
        w.byte(0);
      }
      return;
    }
    for (const part of partsOf(node)) {
      w.byte(1);
      w.int(this.idOf(part));
    }
    if (node.kind === "array" && node.length > 0) {
      w.byte(1);
      w.int(node.length);
    }
  }
}

/** An entry and everything it refers to, in the order in which Go sends definitions. */
export function withParts(entry: TypeEntry, found: Set<TypeEntry> = new Set()): Set<TypeEntry> {
  if (found.has(entry)) return found;
  found.add(entry);
  for (const part of entry.parts) withParts(part, found);
  return found;
}

/** The schemas a type is made of. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "struct":
      return node.fields.map((field) => field.node);
    case "slice":
    case "array":
      return [node.elem];
    case "map":
      return [node.key, node.elem];
    default:
      return [];
  }
}

function isDescribed(node: Node): node is Described {
  return partKinds.has(node.kind);
}

const partKinds: ReadonlySet<string> = new Set(["struct", "slice", "array", "map", "opaque"]);

function lengthOf(node: Described): number {
  if (node.kind === "array" && node.length > 2 ** 31) throw new GobError("GOB_SCHEMA", "an array beyond 2^31 elements");
  return node.kind === "array" ? node.length : 0;
}

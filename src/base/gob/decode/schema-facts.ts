// What reading needs to know of a schema and no stream can change, worked out once: a server makes a decoder for each client.
import { GobError } from "../error.ts";
import { type Node, resolve, type StructNode } from "../schema/schema.ts";
import { pointer } from "../schema/schema-make.ts";
import { type StructShape, shapeOf, type ValuesShape, valuesOf } from "../schema/zero.ts";

export type StructFacts = {
  readonly places: ReadonlyMap<string, { readonly node: Node; readonly index: number }>;
  readonly shape: StructShape;
  readonly values: ValuesShape;
};

const structs = new WeakMap<StructNode, StructFacts>();

export function factsOf(node: StructNode): StructFacts {
  const known = structs.get(node);
  if (known !== undefined) return known;
  const places = new Map(node.fields.map((field, index) => [field.name, { node: field.node, index }]));
  const facts: StructFacts = { places, shape: shapeOf(node), values: valuesOf(node) };
  structs.set(node, facts);
  return facts;
}

const roots = new WeakMap<Node, Node>();

/**
 * What a decoder of the schema starts with. In Go a value is decoded through a pointer to it, which shows in how it matches
 * recursive types. Throws for a schema that cannot be decoded.
 */
export function rootOf(schema: Node): Node {
  const known = roots.get(schema);
  if (known !== undefined) return known;
  checkDecodable(schema);
  const root = pointer(schema);
  roots.set(schema, root);
  return root;
}

/** raw() can only be written. */
function checkDecodable(node: Node, seen: Set<Node> = new Set()): void {
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

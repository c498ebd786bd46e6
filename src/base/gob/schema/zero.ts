// Zero values: what a field decodes to when the sender left it out.
import { type Node, resolve, type StructNode } from "./schema.ts";

const noBytes = new Uint8Array(0);

export function zeroOf(node: Node): unknown {
  const target = resolve(node);
  switch (target.kind) {
    case "bool":
      return false;
    case "int":
    case "uint":
      return target.as === "bigint" ? 0n : 0;
    case "float":
      return 0;
    case "complex":
      return { re: 0, im: 0 };
    case "string":
      return "";
    case "bytes":
      return target.isText ? "" : noBytes;
    case "raw":
      return noBytes; // nobody can write into it, so all may share it
    case "slice":
      return [];
    case "array":
      return Array.from({ length: target.length }, () => zeroOf(target.elem));
    case "map":
      return new Map();
    case "struct":
      if (target.make !== undefined) return target.make(target.fields.map((field) => zeroOf(field.node)));
      return Object.fromEntries(target.fields.map((field) => [field.name, zeroOf(field.node)]));
    case "interface":
    case "pointer":
      return null;
    case "opaque":
      return target.zero();
  }
}

/** How many elements of arrays the zero value holds. */
function zeroElements(node: Node): number {
  const target = resolve(node);
  if (target.kind === "array") return target.length * (1 + zeroElements(target.elem));
  if (target.kind === "struct") return target.fields.reduce((sum, field) => sum + zeroElements(field.node), 0);
  return 0;
}

/** A zero value that is made anew for each struct, and what it counts against limits.elements. */
type OwnZero = { zero: () => unknown; elements: number };

function ownZero(node: Node): OwnZero {
  return { zero: () => zeroOf(node), elements: zeroElements(node) };
}

/**
 * A struct to be copied and filled: fields whose zero value can be shared are in place, the others are undefined and
 * listed, so that each struct gets its own array, Map or object where the sender sent none.
 */
export type StructShape = { template: Record<string, unknown>; own: readonly (OwnZero & { name: string })[] };

export function shapeOf(node: StructNode): StructShape {
  const own = node.fields
    .filter((field) => isOwn(field.node))
    .map(({ name, node: field }) => ({ name, ...ownZero(field) }));
  const template: Record<string, unknown> = {};
  for (const { name, node: field } of node.fields) template[name] = isOwn(field) ? undefined : zeroOf(field);
  return { template, own };
}

/** The same for a struct that is made from its values: they are in the order of its fields. */
export type ValuesShape = { zeros: readonly unknown[]; own: readonly (OwnZero & { index: number })[] };

export function valuesOf(node: StructNode): ValuesShape {
  const zeros = node.fields.map(({ node: field }) => (isOwn(field) ? undefined : zeroOf(field)));
  const own = node.fields.flatMap(({ node: field }, index) => (isOwn(field) ? [{ index, ...ownZero(field) }] : []));
  return { zeros, own };
}

function isOwn(node: Node): boolean {
  return ["complex", "slice", "array", "map", "struct", "opaque"].includes(resolve(node).kind);
}

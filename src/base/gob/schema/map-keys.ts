// Maps whose keys JavaScript compares by identity where Go compares by value: structs, arrays, complex numbers,
// interfaces, types that encode themselves. The decoded Map holds each key once, as Go's does.

import type { Reader } from "../decode/reader.ts";
import { lookUp } from "./basics.ts";
import { base, type Node, type OpaqueNode } from "./schema.ts";

export function hasPrimitiveKeys(key: Node): boolean {
  return ["bool", "int", "uint", "float", "string"].includes(base(key).kind);
}

type Entry = { readonly canonical: string; readonly key: unknown; readonly elem: unknown };

/** Adds to a map by the key's canonical text: a key that is there already gets the new element. */
export function setByValue(
  into: Map<unknown, unknown>,
  seen: Map<string, unknown>,
  { canonical, key, elem }: Entry,
): void {
  // The later key stays, as in Go: 0 and -0 are the same key, but not the same.
  into.delete(seen.get(canonical));
  seen.set(canonical, key);
  into.set(key, elem);
}

/** A text that keys share where Go takes them for one. Fails for what Go cannot hash: slices, maps and bytes in an interface. */
export function canonicalKey(r: Reader, node: Node, key: unknown): string {
  const target = base(node);
  if (target.kind === "bytes" || target.kind === "slice" || target.kind === "map") {
    return r.fail("GOB_MAP_KEY", "a map key that cannot be compared");
  }
  // nil, scalars, and what is none on the wire but was decoded to one.
  if (key === null || typeof key !== "object") return `${typeof key} ${Object.is(key, -0) ? 0 : String(key)}`;
  if (target.kind === "opaque") return wireText(r, target, key);
  return joined(partsOf(r, target, key));
}

/** The texts of what an object's equality depends on. */
function partsOf(r: Reader, target: ReturnType<typeof base>, key: object): string[] {
  const values: Record<string, unknown> = { ...key };
  switch (target.kind) {
    case "complex":
      return [String(values.re), String(values.im)];
    case "array":
      return Object.values(values).map((part) => canonicalKey(r, target.elem, part));
    case "interface": {
      const type = String(values.type);
      const held = lookUp(type, target);
      return held === undefined ? [type] : [type, canonicalKey(r, held, values.value)];
    }
    case "struct":
      if (target.make === undefined) return target.fields.map(({ name, node }) => canonicalKey(r, node, values[name]));
      return [`made at ${r.streamOffset + r.at}`]; // its maker alone knows what it is, so it is equal to none but itself
    default:
      return [String(key)];
  }
}

/** What the key is on the wire: only that says which properties of the value matter. */
function wireText(r: Reader, node: OpaqueNode, key: unknown): string {
  try {
    return node.encode(key).join();
  } catch (error) {
    return r.fail("GOB_OPAQUE", `${node.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Each with its length in front, so that no two lists are the same text. */
function joined(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join("");
}

// Maps whose keys JavaScript compares by identity where Go compares by value: structs, arrays, complex numbers,
// interfaces. The decoded Map holds each key once, as Go's does.
import type { Reader } from "./reader.ts";
import { base, type Node } from "./schema.ts";

export function hasPrimitiveKeys(key: Node): boolean {
  return ["bool", "int", "uint", "float", "string"].includes(base(key).kind);
}

/** Adds to a map by the key's value: a key that is there already gets the new element. */
export function setByValue(into: Map<unknown, unknown>, seen: Map<string, unknown>, entry: [unknown, unknown]): void {
  const [key, elem] = entry;
  const canonical = canonicalKey(key);
  // The later key stays, as in Go: 0 and -0 are the same key, but not the same.
  into.delete(seen.get(canonical));
  seen.set(canonical, key);
  into.set(key, elem);
}

/** Whether Go can hash the value; slices, maps and bytes inside an interface it cannot. */
export function checkHashable(r: Reader, key: unknown): void {
  if (key === null || typeof key !== "object") return;
  if (key instanceof Map || key instanceof Uint8Array) r.fail("GOB_MAP_KEY", "a map key that cannot be compared");
  for (const part of Object.values(key)) checkHashable(r, part);
}

function canonicalKey(key: unknown): string {
  if (key === null || typeof key !== "object") return `${typeof key}:${Object.is(key, -0) ? 0 : String(key)}`;
  const parts = Object.entries(key).map(([name, part]) => `${name}=${quoted(canonicalKey(part))}`);
  return `{${parts.join(",")}}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

// The types Go registers for interface values by itself, under the names it gives them.
import type { Node } from "./schema.ts";
import { bool, bytes, complex, float, int, slice, string, uint } from "./schema-make.ts";

const scalars: Record<string, Node> = {
  bool: bool(),
  string: string(),
  int: int({ as: "bigint" }),
  int8: int({ bits: 8 }),
  int16: int({ bits: 16 }),
  int32: int({ bits: 32 }),
  int64: int({ as: "bigint" }),
  uint: uint({ as: "bigint" }),
  uint8: uint({ bits: 8 }),
  uint16: uint({ bits: 16 }),
  uint32: uint({ bits: 32 }),
  uint64: uint({ as: "bigint" }),
  uintptr: uint({ as: "bigint" }),
  float32: float({ bits: 32 }),
  float64: float(),
  complex64: complex({ bits: 32 }),
  complex128: complex(),
};

export const basicTypes: ReadonlyMap<string, Node> = new Map([
  ...Object.entries(scalars),
  ["[]uint8", bytes()],
  ...Object.entries(scalars)
    .filter(([name]) => name !== "uint8")
    .map(([name, node]): [string, Node] => [`[]${name}`, slice(node)]),
]);

/** The schema registered under a name for this interface, if there is one. */
export function lookUp(
  name: string,
  node: { registry: () => ReadonlyMap<string, Node>; basics: boolean },
): Node | undefined {
  return node.registry().get(name) ?? (node.basics ? basicTypes.get(name) : undefined);
}

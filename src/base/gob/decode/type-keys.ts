// Names for schemas such that two schemas of one Go type have the same name. Go's decoder keeps its work in progress by
// local type, which shows where a peer gives the fields of one local type different types; ours does the same.
import { type Node, resolve } from "../schema/schema.ts";

export class TypeKeys {
  readonly #keys = new WeakMap<Node, string>();
  #next = 0;

  keyOf(node: Node): string {
    const target = resolve(node);
    const known = this.#keys.get(target);
    if (known !== undefined) return known;
    // Set first: a type that contains itself is named by identity.
    const identity = `#${this.#next++}`;
    this.#keys.set(target, identity);
    const key = this.#make(target) ?? identity;
    this.#keys.set(target, key);
    return key;
  }

  #make(node: ReturnType<typeof resolve>): string | undefined {
    switch (node.kind) {
      case "bool":
      case "string":
        return node.kind;
      case "bytes":
        return node.isText ? "text" : "bytes";
      case "int":
      case "uint":
        return `${node.kind}${node.bits}${node.as}`;
      case "float":
      case "complex":
        return `${node.kind}${node.bits}`;
      case "pointer":
        return `*${this.keyOf(node.to)}`;
      case "slice":
        return `[]${this.keyOf(node.elem)}`;
      case "array":
        return `[${node.length}]${this.keyOf(node.elem)}`;
      case "map":
        return `map[${this.keyOf(node.key)}]${this.keyOf(node.elem)}`;
      default:
        return undefined;
    }
  }
}

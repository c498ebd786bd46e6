// What a schema is: a tree of nodes that says which Go type stands on the other side and which TypeScript type here.
// The constructors are in schema-make.ts; encode and decode compile these trees to closures.

export type IntBits = 8 | 16 | 32 | 64;

export type Node =
  | { readonly kind: "bool" }
  | { readonly kind: "int" | "uint"; readonly bits: IntBits; readonly as: "number" | "bigint" }
  | { readonly kind: "float" | "complex"; readonly bits: 32 | 64 }
  | { readonly kind: "string" }
  | BytesNode
  | SliceNode
  | ArrayNode
  | MapNode
  | StructNode
  | InterfaceNode
  | OpaqueNode
  | { readonly kind: "pointer"; readonly to: Node }
  | { readonly kind: "lazy"; readonly resolve: () => Node }
  | { readonly kind: "raw"; readonly of: Node };

/** With `isText` the same bytes on the wire, a string here. */
export type BytesNode = { readonly kind: "bytes"; readonly isText?: true };
/** `name` is what the definition on the wire says; decoders ignore it. */
export type SliceNode = { readonly kind: "slice"; readonly elem: Node; readonly name: string };
export type ArrayNode = {
  readonly kind: "array";
  readonly elem: Node;
  readonly length: number;
  readonly name: string;
};
export type MapNode = { readonly kind: "map"; readonly key: Node; readonly elem: Node; readonly name: string };
export type FieldNode = { readonly name: string; readonly node: Node };
export type StructNode = {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: readonly FieldNode[];
  /** Makes what is decoded from the fields' values, in the fields' order; else it is an object of them. */
  readonly make?: (values: readonly unknown[]) => unknown;
};
export type InterfaceNode = {
  readonly kind: "interface";
  /** A function, so that a registered type may hold the interface it is registered for. */
  readonly registry: () => ReadonlyMap<string, Node>;
  /** Whether Go's built-in names ("int", "string", "[]string", ...) are accepted beside the registry. */
  readonly basics: boolean;
};
/** Which of Go's three interfaces makes the bytes; sender and receiver must agree on it. */
export type OpaqueForm = "gob" | "binary" | "text";
export type OpaqueNode = {
  readonly kind: "opaque";
  readonly name: string;
  readonly form: OpaqueForm;
  readonly encode: (value: unknown) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
  readonly isZero: (value: unknown) => boolean;
  readonly zero: () => unknown;
};

/** A schema for values of type T. The symbol exists for the type checker only. */
export type Schema<T> = Node & { readonly [valueType]?: T };
declare const valueType: unique symbol;

/** The TypeScript type of a schema's values. */
export type ValueOf<S> = S extends { readonly [valueType]?: infer T } ? Exclude<T, undefined> : never;

/** A complex number by its parts. */
export type Complex = { re: number; im: number };

/** A value in a Go interface: the registered name of its type, and the value. A nil interface is null. */
export type Named<R> = { [K in keyof R & string]: { type: K; value: ValueOf<R[K]> } }[keyof R & string];

/** What Go registers by itself. 64-bit integers are bigints here, since nobody was there to ask. */
export type BasicTypes = {
  bool: Schema<boolean>;
  string: Schema<string>;
  "[]uint8": Schema<Uint8Array>;
  "[]bool": Schema<boolean[]>;
  "[]string": Schema<string[]>;
} & Record<"int" | "int64" | "uint" | "uint64" | "uintptr", Schema<bigint>> &
  Record<"int8" | "int16" | "int32" | "uint8" | "uint16" | "uint32" | "float32" | "float64", Schema<number>> &
  Record<"[]int" | "[]int64" | "[]uint" | "[]uint64" | "[]uintptr", Schema<bigint[]>> &
  Record<"[]int8" | "[]int16" | "[]int32" | "[]uint16" | "[]uint32" | "[]float32" | "[]float64", Schema<number[]>> &
  Record<"complex64" | "complex128", Schema<Complex>> &
  Record<"[]complex64" | "[]complex128", Schema<Complex[]>>;

/** The node itself behind lazy references. */
export function resolve(node: Node): Exclude<Node, { kind: "lazy" }> {
  let at = node;
  while (at.kind === "lazy") at = at.resolve();
  return at;
}

/** The node that the wire sees: pointers and pre-encoded values leave no trace there. */
export function base(node: Node): Exclude<Node, { kind: "lazy" | "pointer" | "raw" }> {
  let at = resolve(node);
  while (at.kind === "pointer" || at.kind === "raw") at = resolve(at.kind === "pointer" ? at.to : at.of);
  return at;
}

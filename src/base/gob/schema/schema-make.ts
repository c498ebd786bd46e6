// The constructors of schemas. Each stands for a Go type; a mistake that Go's compiler would catch is a GobError here.
import { GobError } from "../error.ts";
import {
  type BasicTypes,
  base,
  type Complex,
  type IntBits,
  type InterfaceNode,
  type Named,
  type Node,
  type OpaqueForm,
  type Schema,
  type ValueOf,
} from "./schema.ts";
import { decodeTime, encodeTime, type GobTime, isZeroTime, zeroTime } from "./time.ts";

type IntOptions = { bits?: IntBits; as?: "number" | "bigint" };
type IntSchema<O> = Schema<O extends { as: "bigint" } ? bigint : number>;
type Name = { name?: string };

/** Go's bool. */
export function bool(): Schema<boolean> {
  return { kind: "bool" };
}

/** Go's int, int8, int16, int32, int64. 64 bits and a number unless asked otherwise. */
export function int<const O extends IntOptions = object>(options?: O): IntSchema<O> {
  return { kind: "int", bits: options?.bits ?? 64, as: options?.as ?? "number" };
}

/** Go's uint, uint8, uint16, uint32, uint64, uintptr. */
export function uint<const O extends IntOptions = object>(options?: O): IntSchema<O> {
  return { kind: "uint", bits: options?.bits ?? 64, as: options?.as ?? "number" };
}

/** Go's float64, or float32 with { bits: 32 }. */
export function float(options: { bits?: 32 | 64 } = {}): Schema<number> {
  return { kind: "float", bits: options.bits ?? 64 };
}

/** Go's complex128, or complex64 with { bits: 32 }: the width of each part. */
export function complex(options: { bits?: 32 | 64 } = {}): Schema<Complex> {
  return { kind: "complex", bits: options.bits ?? 64 };
}

/** Go's string. What is not UTF-8 in it is replaced when decoded; use bytes() on both sides for anything else. */
export function string(): Schema<string> {
  return { kind: "string" };
}

/** Go's []byte. */
export function bytes(): Schema<Uint8Array> {
  return { kind: "bytes" };
}

/** Go's []byte that holds text, as a string: cheaper than bytes of its own for each, where text is wanted anyway. */
export function textBytes(): Schema<string> {
  return { kind: "bytes", isText: true };
}

/** Go's []T. A nil slice decodes as an empty array. */
export function slice<T>(elem: Schema<T>, options: Name = {}): Schema<T[]> {
  if (elem.kind === "uint" && elem.bits === 8) {
    throw new GobError("GOB_SCHEMA", "a slice of uint8 is Go's []byte: use bytes()");
  }
  return { kind: "slice", elem, name: options.name ?? "" };
}

/** Go's [N]T. */
export function array<T>(elem: Schema<T>, length: number, options: Name = {}): Schema<T[]> {
  if (!Number.isSafeInteger(length) || length < 0) throw new GobError("GOB_SCHEMA", `an array of length ${length}`);
  return { kind: "array", elem, length, name: options.name ?? "" };
}

/** Go's map. A nil map decodes as an empty Map; pointer(map(...)) tells the two apart. */
export function map<K, V>(key: Schema<K>, elem: Schema<V>, options: Name = {}): Schema<Map<K, V>> {
  return { kind: "map", key, elem, name: options.name ?? "" };
}

type Fields = Readonly<Record<string, Node>>;
type StructValue<F extends Fields> = { [K in keyof F]: ValueOf<F[K]> };

/** A Go struct. The fields are its exported ones, by their Go names, in Go's order. */
export function struct<const F extends Fields>(name: string, fields: F): Schema<StructValue<F>> {
  const list = Object.entries(fields).map(([field, node]) => ({ name: field, node }));
  for (const field of list) {
    // Go sends exported fields only, and ignores any other that it receives.
    if (!/^\p{Lu}/u.test(field.name)) {
      throw new GobError("GOB_SCHEMA", `field ${name}.${field.name} is not exported: it must start with a capital`);
    }
  }
  return { kind: "struct", name, fields: list };
}

/**
 * A Go struct that is decoded to what `make` makes of the named fields; the others are skipped. For decoding only, and for
 * the struct that comes by the thousand: an object with names that are not known before costs more than its fields.
 */
export function made<V extends object, const N extends readonly (keyof V & string)[], T>(
  of: Schema<V>,
  names: N,
  make: (values: { readonly [I in keyof N]: V[N[I]] }) => T,
): Schema<T> {
  if (of.kind !== "struct") throw new GobError("GOB_SCHEMA", `only structs can be made, not a ${of.kind}`);
  const fields = names.flatMap((name) => of.fields.find((field) => field.name === name) ?? []);
  // The decoder puts the values of these fields there, in this order.
  return { kind: "struct", name: of.name, fields, make: (values) => make(values as Parameters<typeof make>[0]) };
}

/** A Go pointer: null where Go has nil. It leaves no trace on the wire but that a nil field is left out. */
export function pointer<T>(to: Schema<T>): Schema<T | null> {
  return { kind: "pointer", to };
}

/** A reference to a schema that is defined later, for recursive types. Annotate the type: lazy<Tree>(() => Tree). */
export function lazy<T>(target: () => Schema<T>): Schema<T> {
  let node: Node | undefined;
  const resolve = (): Node => {
    node ??= target();
    return node;
  };
  return { kind: "lazy", resolve };
}

type Registry = Readonly<Record<string, Node>>;
type OrLater<R> = R | (() => R);

/** A Go interface: whichever type is registered, by the name it is registered under with gob.Register or gob.RegisterName. */
export function interface_<const R extends Registry>(
  registry: OrLater<R>,
  options: { basics: false },
): Schema<Named<R> | null>;
export function interface_<const R extends Registry = Record<never, never>>(
  registry?: OrLater<R>,
  options?: { basics?: boolean },
): Schema<Named<R> | Named<BasicTypes> | null>;
export function interface_(registry: OrLater<Registry> = {}, options: { basics?: boolean } = {}): InterfaceNode {
  let entries: ReadonlyMap<string, Node> | undefined;
  const read = (): ReadonlyMap<string, Node> => {
    entries ??= checkedRegistry(typeof registry === "function" ? registry() : registry);
    return entries;
  };
  if (typeof registry !== "function") read();
  return { kind: "interface", registry: read, basics: options.basics ?? true };
}

function checkedRegistry(registry: Registry): ReadonlyMap<string, Node> {
  const entries = new Map(Object.entries(registry));
  for (const [name, node] of entries) {
    if (name === "" || new TextEncoder().encode(name).length > 1024) {
      throw new GobError("GOB_SCHEMA", `a registered name of ${name.length} characters: Go takes 1 to 1024 bytes`);
    }
    if (node.kind !== "lazy" && base(node).kind === "interface") {
      throw new GobError("GOB_SCHEMA", `${name} is registered as an interface; only concrete types can be`);
    }
  }
  return entries;
}

type OpaqueOptions<T> = {
  form: OpaqueForm;
  encode: (value: T) => Uint8Array;
  decode: (bytes: Uint8Array) => T;
  zero: () => T;
  /** Whether a struct field with this value is left out, as Go does for its zero value. Never, unless given. */
  isZero?: (value: T) => boolean;
};

/** A Go type that encodes itself: GobEncoder ("gob") or BinaryMarshaler ("binary"). */
export function opaque<T>(name: string, options: OpaqueOptions<T>): Schema<T> {
  const { form, encode, decode, zero, isZero } = options;
  return {
    kind: "opaque",
    name,
    form,
    // The type checker has seen that values of this schema are T; the tree below does not carry T.
    encode: (value) => encode(value as T),
    decode,
    zero,
    isZero: (value) => isZero?.(value as T) ?? false,
  };
}

/** A type that encodes itself, as its bytes. */
export function opaqueBytes(name: string, form: OpaqueForm): Schema<Uint8Array> {
  const copy = (value: Uint8Array): Uint8Array => value.slice();
  return opaque(name, { form, encode: (value) => value, decode: copy, zero: () => new Uint8Array(0) });
}

/** Go's time.Time, to the nanosecond and with its zone. */
export function time(): Schema<GobTime> {
  return opaque("Time", {
    form: "gob",
    encode: encodeTime,
    decode: decodeTime,
    zero: () => ({ ...zeroTime }),
    isZero: isZeroTime,
  });
}

/**
 * A place in a message for bytes that `encoder.element` made before: written as they are, never encoded again.
 * For encoding only.
 */
export function raw<T>(of: Schema<T>): Schema<Uint8Array> {
  return { kind: "raw", of };
}

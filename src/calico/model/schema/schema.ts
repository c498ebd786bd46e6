// One description of a Go type, used three ways: as a reader of unchecked JSON that does what Go's decoder does (and gives
// the TypeScript type), as a go-json writer (fields in Go's order), and as the OpenAPI schema of the CRD. The CRD's extra
// rules (enums, lengths) are the API server's to enforce: the original reads objects that break them, so the reader does
// too. Readers are closures made from the description; decision 17 says what they replaced and what that saved.
import {
  type GoField,
  type GoType,
  goBool,
  goList,
  goMap,
  goNumber,
  goPointer,
  goRaw,
  goString,
  goStruct,
  always as keepField,
  omitEmpty,
  omitZero as omitZeroField,
} from "../go/go-json.ts";
import { FieldError, type IntegerRange, isRecord, type WideRange } from "./read-json.ts";

export type CrdSchema = { readonly [keyword: string]: unknown };

export type Schema<T> = {
  /** Of a value that cleanJson has been over. Throws a Misfit for the first thing that does not fit. */
  readonly read: (value: unknown) => T;
  readonly go: GoType<T>;
  readonly crd: CrdSchema;
};

/** A member of a struct: a schema and how Go treats it when it is empty. A bare schema is one with `omitempty`. */
export type Member<T> = Schema<T> & {
  readonly omit?: "never" | "zero";
  /** Of the CRD only: Go has no required fields. */
  readonly isRequired?: boolean;
};

export type SchemaType<S extends Schema<unknown>> = S extends Schema<infer T> ? T : never;
type StructType<F extends { readonly [name: string]: Member<unknown> }> = {
  readonly [N in keyof F]?: SchemaType<F[N]> | undefined;
};

/** What does not fit, and where; the path grows from the inside to the outside on its way to readSchema. */
class Misfit extends Error {
  readonly path: (string | number)[] = [];

  static expected(type: string, value: unknown): Misfit {
    return new Misfit(`Invalid input: expected ${type}, received ${nameOfType(value)}`);
  }

  /** Of anything else that is thrown, nothing is known but that it is not ours. */
  static within(error: unknown, part: string | number): unknown {
    if (error instanceof Misfit) error.path.unshift(part);
    return error;
  }
}

function nameOfType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const readText = (value: unknown): string => {
  if (typeof value === "string") return value;
  throw Misfit.expected("string", value);
};

export const text = (crd: CrdSchema = {}): Schema<string> => ({
  read: readText,
  go: goString,
  crd: { type: "string", ...crd },
});

export const flag = (crd: CrdSchema = {}): Schema<boolean> => ({
  read: (value) => {
    if (typeof value === "boolean") return value;
    throw Misfit.expected("boolean", value);
  },
  go: goBool,
  crd: { type: "boolean", ...crd },
});

/**
 * Of a Go type of integers. What a double does not hold exactly comes from parseJson as a bigint, and stays one: only the
 * types of 64 bits have such values.
 */
export function integer(range: IntegerRange, crd?: CrdSchema): Schema<number>;
export function integer(range: WideRange, crd?: CrdSchema): Schema<number | bigint>;
export function integer({ min, max }: IntegerRange | WideRange, crd: CrdSchema = {}): Schema<number | bigint> {
  const [least, most] = [Number(min), Number(max)];
  return scalar<number | bigint>({
    read: (value) => {
      if (typeof value === "number") {
        return Number.isSafeInteger(value) && value >= least && value <= most ? value : undefined;
      }
      return typeof value === "bigint" && value >= min && value <= max ? value : undefined;
    },
    rule: `must be a whole number from ${min} to ${max}`,
    go: goNumber,
    crd: { type: "integer", ...crd },
  });
}

export const float = (crd: CrdSchema = {}): Schema<number> => ({
  read: (value) => {
    if (typeof value === "number") return value;
    // A whole number beyond 2^53 comes from parseJson as a bigint; as a float it is rounded, as Go rounds it.
    if (typeof value === "bigint") return Number(value);
    throw Misfit.expected("number", value);
  },
  go: goNumber,
  crd: { type: "number", ...crd },
});

export const list = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<readonly T[]> => ({
  read: listReader(element),
  go: goList(element.go),
  crd: { type: "array", items: element.crd, ...crd },
});

/** A list in which Go would put the zero value for null; here null stays, to be written as null. */
export const nullableList = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<readonly (T | null)[]> => ({
  read: listReader<T | null>({ read: (value) => (value === null ? null : element.read(value)) }),
  go: goList<T | null>({
    write: (value) => (value === null ? "null" : element.go.write(value)),
    isEmpty: () => false,
    zero: "null",
  }),
  crd: { type: "array", items: { ...element.crd, nullable: true }, ...crd },
});

export const map = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<{ readonly [key: string]: T }> => ({
  read: mapReader(element),
  go: goMap(element.go),
  crd: { type: "object", additionalProperties: element.crd, ...crd },
});

// Labels and lists of names are most of what there is to read: they stay themselves, without a copy.
function listReader<T>({ read }: Pick<Schema<T>, "read">): (value: unknown) => readonly T[] {
  const staysItself = read === (readText as unknown);
  return (value) => {
    if (!Array.isArray(value)) throw Misfit.expected("array", value);
    let at = 0;
    try {
      if (staysItself) {
        for (; at < value.length; at++) read(value[at]);
        return value;
      }
      const copy = new Array<T>(value.length);
      for (; at < value.length; at++) copy[at] = read(value[at]);
      return copy;
    } catch (error) {
      throw Misfit.within(error, at);
    }
  };
}

function mapReader<T>({ read }: Schema<T>): (value: unknown) => { readonly [key: string]: T } {
  const staysItself = read === (readText as unknown);
  return (value) => {
    if (!isRecord(value)) throw Misfit.expected("record", value);
    let at = "";
    try {
      // Of a value that cleanJson has been over: an object has members of its own only.
      const copy: { [key: string]: T } = {};
      for (at in value) {
        const element = read(value[at]);
        if (!staysItself) copy[at] = element;
      }
      return staysItself ? (value as { readonly [key: string]: T }) : copy; // each member was just read
    } catch (error) {
      throw Misfit.within(error, at);
    }
  };
}

/** JSON passed on as it is. */
export const raw = (crd: CrdSchema = {}): Schema<unknown> => ({
  read: (value) => value,
  go: goRaw,
  crd: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...crd },
});

/** A type with its own reader, like Go's UnmarshalJSON. The reader answers undefined for what does not fit. */
export function scalar<T>(says: {
  read: (value: unknown) => T | undefined;
  /** What is expected; or what is wrong with this very value. */
  rule: string | ((value: unknown) => string);
  go: GoType<T>;
  crd: CrdSchema;
}): Schema<T> {
  const read = (value: unknown): T => {
    const found = says.read(value);
    if (found !== undefined) return found;
    throw new Misfit(typeof says.rule === "string" ? says.rule : says.rule(value));
  };
  return { read, go: says.go, crd: says.crd };
}

export function struct<F extends { readonly [name: string]: Member<unknown> }>(
  fields: F,
  crd: CrdSchema = {},
): Schema<StructType<F>> {
  const members = Object.entries(fields);
  const goFields = Object.fromEntries(members.map(([name, field]) => [name, goFieldOf(field)]));
  const properties = Object.fromEntries(members.map(([name, field]) => [name, field.crd]));
  const required = members.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    // A loop over the members loses which name has which type; StructType is that very loop, in types.
    read: structReader(members) as (value: unknown) => StructType<F>,
    go: goStruct<{ [name: string]: unknown }>(goFields) as unknown as GoType<StructType<F>>,
    crd: { type: "object", properties, ...(required.length > 0 ? { required } : {}), ...crd },
  };
}

/** Members that the type does not have are passed over, as Go passes over them. */
function structReader(members: readonly [string, Member<unknown>][]): (value: unknown) => { [name: string]: unknown } {
  return (value) => {
    if (!isRecord(value)) throw Misfit.expected("object", value);
    const copy: { [name: string]: unknown } = {};
    let at = "";
    try {
      for (const [name, { read }] of members) {
        const inner = value[name];
        if (inner === undefined) continue;
        at = name;
        copy[name] = read(inner);
      }
    } catch (error) {
      throw Misfit.within(error, at);
    }
    return copy;
  };
}

function goFieldOf(field: Member<unknown>): GoField<unknown> {
  if (field.omit === "never") return keepField(field.go);
  if (field.omit === "zero") return omitZeroField(field.go as GoType<object>) as GoField<unknown>; // only structs are zeroed
  return omitEmpty(field.go);
}

/** Made when it is first used, so that a program which never meets the kind does not pay for it. */
export function lazy<T>(make: () => Schema<T>): Schema<T> {
  let made: Schema<T> | undefined;
  const schema = () => {
    made ??= make();
    return made;
  };
  return {
    get read() {
      return schema().read;
    },
    get go() {
      return schema().go;
    },
    get crd() {
      return schema().crd;
    },
  };
}

/** Written even when it is empty. */
export const kept = <T>(schema: Schema<T>): Member<T> => ({ ...schema, omit: "never" });

/** Left out when all of it is zero. */
export const zeroable = <T>(schema: Schema<T>): Member<T> => ({ ...schema, omit: "zero" });

/** Left out only when it is not there: an explicit 0, false or "" is written. */
export const optional = <T>(schema: Schema<T>): Schema<T> => ({ ...schema, go: goPointer(schema.go) });

/** The CRD insists on it. */
export const required = <T>(member: Member<T>): Member<T> => ({ ...member, isRequired: true });

/** Reads a value that cleanJson has been over. Throws a FieldError for the first thing that does not fit. */
export function readSchema<T>(schema: Schema<T>, value: unknown, at: string): T {
  try {
    return schema.read(value);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new FieldError(at + pathText(error.path, at === ""), error.message);
  }
}

function pathText(path: readonly (string | number)[], isFirst: boolean): string {
  let written = "";
  for (const part of path) {
    if (typeof part === "number") written += `[${part}]`;
    else written += `${written === "" && isFirst ? "" : "."}${part}`;
  }
  return written;
}

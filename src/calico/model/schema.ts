// One description of a Go type, read three ways: as a zod schema (the TypeScript type, and reading unchecked JSON the way
// Go's decoder does), as a go-json writer (fields in Go's order), and as the OpenAPI schema of the CRD. The CRD's extra
// rules (enums, lengths) are the API server's to enforce: the original reads objects that break them, so zod does too.
import * as z from "zod";
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
} from "./go-json.ts";
import { FieldError, type IntegerRange, type WideRange } from "./read-json.ts";

export type CrdSchema = { readonly [keyword: string]: unknown };

export type Schema<T> = { readonly zod: z.ZodType<T>; readonly go: GoType<T>; readonly crd: CrdSchema };

/** A member of a struct: a schema and how Go treats it when it is empty. A bare schema is one with `omitempty`. */
export type Member<T> = Schema<T> & {
  readonly omit?: "never" | "zero";
  /** Of the CRD only: Go has no required fields. */
  readonly isRequired?: boolean;
};

export type SchemaType<S extends Schema<unknown>> = z.output<S["zod"]>;
type StructType<F extends { readonly [name: string]: Member<unknown> }> = {
  readonly [N in keyof F]?: SchemaType<F[N]> | undefined;
};

const anyText = z.string();

export const text = (crd: CrdSchema = {}): Schema<string> => ({
  zod: anyText,
  go: goString,
  crd: { type: "string", ...crd },
});

export const flag = (crd: CrdSchema = {}): Schema<boolean> => ({
  zod: z.boolean(),
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
  // A whole number beyond 2^53 comes from parseJson as a bigint; as a float it is rounded, as Go rounds it.
  zod: z.union([z.number(), z.bigint().transform(Number)]),
  go: goNumber,
  crd: { type: "number", ...crd },
});

export const list = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<readonly T[]> => ({
  zod: isAnyText(element) ? orZod(isTextList, z.array(element.zod)) : z.array(element.zod),
  go: goList(element.go),
  crd: { type: "array", items: element.crd, ...crd },
});

/** A list in which Go would put the zero value for null; here null stays, to be written as null. */
export const nullableList = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<readonly (T | null)[]> => ({
  zod: z.array(element.zod.nullable()),
  go: goList<T | null>({
    write: (value) => (value === null ? "null" : element.go.write(value)),
    isEmpty: () => false,
    zero: "null",
  }),
  crd: { type: "array", items: { ...element.crd, nullable: true }, ...crd },
});

export const map = <T>(element: Schema<T>, crd: CrdSchema = {}): Schema<{ readonly [key: string]: T }> => ({
  zod: isAnyText(element) ? orZod(isTextMap, z.record(z.string(), element.zod)) : z.record(z.string(), element.zod),
  go: goMap(element.go),
  crd: { type: "object", additionalProperties: element.crd, ...crd },
});

// Labels and lists of names are most of what there is to read. Nearly all of them fit; those stay themselves, without the
// copy that zod makes member by member. The rest is zod's to name.
function orZod<T>(fits: (value: unknown) => boolean, zod: z.ZodType<T>): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    if (fits(value)) return value as T; // what zod would say, too
    const result = zod.safeParse(value);
    if (result.success) return result.data;
    for (const { message, path } of result.error.issues) context.addIssue({ code: "custom", message, path });
    return z.NEVER;
  });
}

function isAnyText(element: Schema<unknown>): boolean {
  return element.zod === anyText;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): boolean {
  // Of a value that cleanJson has been over: an object has members of its own only.
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const name in value) if (!isText((value as { [name: string]: unknown })[name])) return false; // no array: its keys are text
  return true;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** JSON passed on as it is. */
export const raw = (crd: CrdSchema = {}): Schema<unknown> => ({
  zod: z.unknown(),
  go: goRaw,
  crd: { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...crd },
});

/** A type with its own reader, like Go's UnmarshalJSON. The reader answers undefined for what does not fit. */
export function scalar<T>(says: {
  read: (value: unknown) => T | undefined;
  rule: string;
  go: GoType<T>;
  crd: CrdSchema;
}): Schema<T> {
  const zod = z.unknown().transform((value, context): T => {
    const read = says.read(value);
    if (read !== undefined) return read;
    context.addIssue({ code: "custom", message: says.rule });
    return z.NEVER;
  });
  return { zod, go: says.go, crd: says.crd };
}

export function struct<F extends { readonly [name: string]: Member<unknown> }>(
  fields: F,
  crd: CrdSchema = {},
): Schema<StructType<F>> {
  const members = Object.entries(fields);
  const shape = Object.fromEntries(members.map(([name, { zod }]) => [name, zod.optional()]));
  const goFields = Object.fromEntries(members.map(([name, field]) => [name, goFieldOf(field)]));
  const properties = Object.fromEntries(members.map(([name, field]) => [name, field.crd]));
  const required = members.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    // A loop over the members loses which name has which type; StructType is that very loop, in types.
    zod: z.object(shape) as unknown as z.ZodType<StructType<F>>,
    go: goStruct<{ [name: string]: unknown }>(goFields) as unknown as GoType<StructType<F>>,
    crd: { type: "object", properties, ...(required.length > 0 ? { required } : {}), ...crd },
  };
}

function goFieldOf(field: Member<unknown>): GoField<unknown> {
  if (field.omit === "never") return keepField(field.go);
  if (field.omit === "zero") return omitZeroField(field.go as GoType<object>) as GoField<unknown>; // only structs are zeroed
  return omitEmpty(field.go);
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
  const result = schema.zod.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new FieldError(at + pathText(issue?.path ?? [], at === ""), issue?.message ?? "does not fit");
}

function pathText(path: readonly PropertyKey[], isFirst: boolean): string {
  let written = "";
  for (const part of path) {
    if (typeof part === "number") written += `[${part}]`;
    else written += `${written === "" && isFirst ? "" : "."}${String(part)}`;
  }
  return written;
}

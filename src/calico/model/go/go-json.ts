// Writes JSON the way Go's encoding/json does, byte for byte: the cache compares serialised values, and clients' own tests
// compare bytes. A Go type is described once, as a table of fields in the order of the Go struct, and compiled to closures;
// this is the hot path of 150,000 pods (bench/convert/pods.ts). docs/decisions/0005-go-json.md says why it is our own.
//
//   const tier = goStruct<Tier>({ order: omitEmpty(goPointer(goNumber)), defaultAction: omitEmpty(goString) });
//   tier.write({ defaultAction: "Deny" })   ->   {"defaultAction":"Deny"}
//
// A value that is undefined is Go's zero value: "" for a string, null for a slice, map or pointer.

export type GoType<T> = {
  write(value: T): string;
  /** What `omitempty` drops besides undefined. */
  isEmpty(value: T): boolean;
  /** The text of the zero value, written for undefined where the field is always there. */
  readonly zero: string;
};

export type GoField<T> = { readonly type: GoType<T>; readonly omit: "never" | "empty" };

export const always = <T>(type: GoType<T>): GoField<T> => ({ type, omit: "never" });
export const omitEmpty = <T>(type: GoType<T>): GoField<T> => ({ type, omit: "empty" });

// Said as what may stay: all but control characters, " & < > \, the two Unicode line separators, and half pairs.
const needsEscape = /[^ !#-%'-;=?-[\]-\u2027\u202a-\ud7ff\ue000-\uffff]/;
const escapes = /[^ !#-%'-;=?-[\]-\u2027\u202a-\uffff]/g;
const shortEscapes: { readonly [character: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function escapeCharacter(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function writeGoString(text: string): string {
  if (!needsEscape.test(text)) return `"${text}"`;
  // Go replaces what is no character when it reads; the replacement is then an ordinary character.
  return `"${text.toWellFormed().replace(escapes, escapeCharacter)}"`;
}

/** Go's float64 and integers. JavaScript prints them alike, but for the sign of zero. */
export function writeGoNumber(value: number | bigint): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

const surrogate = /[\ud800-\udfff]/;

/** Orders by UTF-8 bytes, which is the order of code points; JavaScript's own order differs beyond the BMP. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0;
  if (!surrogate.test(a) && !surrogate.test(b)) return a < b ? -1 : 1;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    const isLeftHigh = left >= 0xd800 && left <= 0xdfff;
    const isRightHigh = right >= 0xd800 && right <= 0xdfff;
    if (isLeftHigh !== isRightHigh) return isLeftHigh ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

/** Sorts in place by UTF-8 bytes. JavaScript's own order is faster, and the same but for characters beyond the BMP. */
export function sortByUtf8(texts: string[]): string[] {
  return texts.some((text) => surrogate.test(text)) ? texts.sort(compareUtf8) : texts.sort();
}

export const goString: GoType<string> = {
  write: writeGoString,
  isEmpty: (value) => value === "",
  zero: '""',
};

export const goNumber: GoType<number | bigint> = {
  write: writeGoNumber,
  isEmpty: (value) => value === 0 || value === 0n,
  zero: "0",
};

/** A type that is a number or a name, like a port; it is never empty. */
export const goNumberOrText: GoType<number | string> = {
  write: (value) => (typeof value === "number" ? writeGoNumber(value) : writeGoString(value)),
  isEmpty: () => false,
  zero: "0",
};

export const goBool: GoType<boolean> = {
  write: (value) => (value ? "true" : "false"),
  isEmpty: (value) => !value,
  zero: "false",
};

/** A pointer: never empty unless undefined, so an explicit 0, false or "" is written. */
export function goPointer<T>(type: GoType<T>): GoType<T> {
  return { write: type.write, isEmpty: () => false, zero: "null" };
}

// Lists and maps of text are most of what is written. JavaScript writes them faster than any loop, and as Go does, where
// nothing in them is escaped by either; a list with holes, or a map that is not sorted goes the long way.
const mayDiffer = /[\\&<>\u2028\u2029]/;

function writeAtOnce(value: object): string | undefined {
  const text = JSON.stringify(value);
  return mayDiffer.test(text) ? undefined : text;
}

function isSorted(keys: readonly string[]): boolean {
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string; // the index is below the length
    if (surrogate.test(key) || (at > 0 && (keys[at - 1] as string) >= key)) return false; // so is this one
  }
  return true;
}

export function goList<T>(type: GoType<T>): GoType<readonly T[]> {
  const isOfText = (type as unknown) === goString; // of all types, this one object
  const write = (values: readonly T[]) => {
    if (isOfText && values.every((value) => typeof value === "string")) {
      const text = writeAtOnce(values);
      if (text !== undefined) return text;
    }
    let text = "[";
    for (let at = 0; at < values.length; at++) {
      if (at > 0) text += ",";
      // The index is below the length; a hole would be Go's zero value.
      const value = values[at] as T;
      text += value === undefined || value === null ? type.zero : type.write(value);
    }
    return `${text}]`;
  };
  return { write, isEmpty: (values) => values.length === 0, zero: "null" };
}

export function goMap<T>(type: GoType<T>): GoType<{ readonly [key: string]: T }> {
  const isOfText = (type as unknown) === goString; // of all types, this one object
  const write = (map: { readonly [key: string]: T }) => {
    const found = Object.keys(map);
    const isInOrder = isSorted(found);
    if (isOfText && isInOrder) {
      const text = writeAtOnce(map);
      if (text !== undefined) return text;
    }
    const keys = isInOrder ? found : sortByUtf8(found);
    let text = "{";
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string; // the index is below the length
      if (at > 0) text += ",";
      text += `${writeGoString(key)}:${type.write(map[key] as T)}`; // the key came from the map
    }
    return `${text}}`;
  };
  return { write, isEmpty: (map) => !hasKey(map), zero: "null" };
}

function hasKey(map: object): boolean {
  for (const key in map) if (Object.hasOwn(map, key)) return true;
  return false;
}

/** A struct by its fields, in Go's order. A struct is never empty for omitempty, even when all its fields are. */
export function goStruct<T extends object>(
  fields: {
    readonly [Name in keyof T]-?: GoField<Exclude<T[Name], undefined>>;
  },
): GoType<T> {
  // The table's types tie each name to its value's type; a loop over names cannot say that, hence unknown inside.
  const compiled = Object.entries(fields as { [name: string]: GoField<unknown> }).map(([name, { type, omit }]) => ({
    name,
    label: `${writeGoString(name)}:`,
    type,
    isOmitted: omit === "empty",
  }));
  const write = (value: T) => {
    const from = value as { readonly [name: string]: unknown }; // the same reason as above
    let text = "";
    for (let at = 0; at < compiled.length; at++) {
      const field = compiled[at] as (typeof compiled)[number]; // the index is below the length
      const member = from[field.name];
      if (member === undefined || member === null) {
        if (field.isOmitted) continue;
        text += `${text === "" ? "" : ","}${field.label}${field.type.zero}`;
      } else {
        if (field.isOmitted && field.type.isEmpty(member)) continue;
        text += `${text === "" ? "" : ","}${field.label}${field.type.write(member)}`;
      }
    }
    return `{${text}}`;
  };
  return { write, isEmpty: () => false, zero: write({} as T) }; // no fields set: what Go prints for the zero struct
}

/** `omitzero`: a struct left out when all of it is zero. An empty list that is there is not zero, as in Go. */
export function omitZero<T extends object>(type: GoType<T>): GoField<T> {
  return { type: { ...type, isEmpty: (value) => Object.values(value).every(isZero) }, omit: "empty" };
}

function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}

/** Raw JSON passed on as it came, members in their own order (managedFields' fieldsV1). */
export const goRaw: GoType<unknown> = { write: writeRaw, isEmpty: () => false, zero: "null" };

function writeRaw(value: unknown): string {
  switch (typeof value) {
    case "string":
      return writeGoString(value);
    case "number":
    case "bigint":
      return writeGoNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "object": {
      if (value === null) return "null";
      if (Array.isArray(value)) return `[${value.map(writeRaw).join(",")}]`;
      return `{${inGoOrder(Object.entries(value))
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => `${writeGoString(key)}:${writeRaw(member)}`)
        .join(",")}}`;
    }
    default:
      return "null";
  }
}

const index = /^(?:0|[1-9][0-9]*)$/;

/**
 * JavaScript puts keys that are whole numbers first, in the order of numbers. No Go struct has a field of such a name, so
 * the object was a map, and Go sorts its keys as texts.
 */
function inGoOrder(entries: [string, unknown][]): [string, unknown][] {
  return entries.some(([key]) => index.test(key)) ? entries.sort(([a], [b]) => compareUtf8(a, b)) : entries;
}

/** JSON as Go would write it, of a value whose members stand in Go's order already; bigints as the digits they are. */
export function writeGoJson(value: unknown): string {
  return writeRaw(value);
}

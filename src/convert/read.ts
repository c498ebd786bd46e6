// Reads parsed JSON that nobody has checked, the way Go reads it into a struct: null is absent, absent is the zero value,
// a wrong type makes the whole object unreadable. Misfit carries what was wrong up to the processor, which turns it into
// a problem; it never leaves this folder. Errors cost nothing until one is met, which keeps the path of a good pod short.

export class Misfit extends Error {
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(`${field}: ${rule}`);
    this.field = field;
    this.rule = rule;
  }
}

export type JsonObject = { readonly [name: string]: unknown };

const nothing: JsonObject = Object.freeze(Object.create(null));
const noTexts: { readonly [name: string]: string } = Object.freeze(Object.create(null));
const noItems: readonly unknown[] = Object.freeze([]);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readObject(value: unknown, field: string): JsonObject {
  if (value === undefined || value === null) return nothing;
  if (!isObject(value)) throw new Misfit(field, "must be an object");
  return value;
}

export function readList(value: unknown, field: string): readonly unknown[] {
  if (value === undefined || value === null) return noItems;
  if (!Array.isArray(value)) throw new Misfit(field, "must be a list");
  return value;
}

export function readText(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw new Misfit(field, "must be a text");
}

export function readBoolean(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw new Misfit(field, "must be true or false");
  return value;
}

/** A 32-bit integer; 0 when absent. */
export function readInt32(value: unknown, field: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || (value | 0) !== value) throw new Misfit(field, "must be a 32-bit integer");
  return value;
}

/** Texts by name, as labels and annotations are. Members that are null are "". */
export function readTexts(value: unknown, field: string): { readonly [name: string]: string } {
  if (value === undefined || value === null) return noTexts;
  if (!isObject(value)) throw new Misfit(field, "must be an object of texts");
  for (const name of Object.keys(value)) {
    if (typeof value[name] !== "string") return readTextsWithNulls(value, field);
  }
  return value as { readonly [name: string]: string }; // every member was just seen to be a text
}

function readTextsWithNulls(value: JsonObject, field: string): { readonly [name: string]: string } {
  const entries = Object.entries(value).map(([name, text]) => [name, readText(text, `${field}[${name}]`)] as const);
  return Object.fromEntries(entries);
}

/** An own member of texts that users named; an inherited one (`constructor`) is not there. */
export function ownText(texts: { readonly [name: string]: string }, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

/** A JSON list of texts inside an annotation; null members are "", as Go reads them. */
export function parseTextList(text: string, field: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Misfit(field, "must be a JSON list of texts");
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Misfit(field, "must be a JSON list of texts");
  return value.map((item, at) => readText(item, `${field}[${at}]`));
}

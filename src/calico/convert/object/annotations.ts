// Annotations that hold more than a word: lists in JSON, read as Go reads them.
import { FieldError, type StringMap } from "../../model/index.ts";

/** An own member of texts that users named; an inherited one (`constructor`) is not there. */
export function ownText(texts: StringMap, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

export function annotationField(name: string): string {
  return `metadata.annotations[${JSON.stringify(name)}]`;
}

/** A JSON list of texts; null members are "". Throws FieldError for anything else. */
export function parseTextList(text: string, field: string): readonly string[] {
  const value = parseOrUndefined(text);
  if (value === null) return [];
  if (!Array.isArray(value)) throw new FieldError(field, "must be a JSON list of strings");
  return value.map((item) => {
    if (typeof item !== "string" && item !== null) throw new FieldError(field, "must be a JSON list of strings");
    return item ?? "";
  });
}

/** The JSON object in an annotation, its members all texts; undefined where it is anything else. */
export function parseTextMap(text: string): StringMap | undefined {
  const value = parseOrUndefined(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).map(([name, item]) => [name, item ?? ""] as const);
  return entries.every(([, item]) => typeof item === "string") ? Object.fromEntries(entries) : undefined;
}

/** Undefined: not JSON. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says what it wanted instead
  }
}

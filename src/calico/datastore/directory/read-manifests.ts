// The text of one manifest file to the objects in it: YAML or JSON, several documents, Lists. All or nothing: a file
// with one bad document is a bad file, because a half-written file looks exactly like that.
import { type Document, isMap, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLMap } from "yaml";
import { isRecord, type JsonRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { identify } from "../object-id.ts";
import { readPlainYaml } from "./plain-yaml.ts";
import { recognise } from "./recognise.ts";

export type Place = { readonly line: number; readonly column: number };
/** Which document of the file, and the way to the object within it: [] or, in a List, ["items", 2]. */
export type Where = { readonly document: number; readonly path: readonly (string | number)[] };
export type ManifestObject = {
  readonly kind: Kind;
  readonly id: ObjectId;
  readonly value: JsonRecord;
  readonly place: Place;
  readonly where: Where;
};
export type Complaint = Place & { readonly says: string };

export type Manifests = {
  readonly objects: readonly ManifestObject[];
  /** Why the file cannot be used. */
  readonly errors: readonly Complaint[];
  /** What was passed over although its author may expect otherwise. */
  readonly notes: readonly Complaint[];
};

type Reading = { objects: ManifestObject[]; errors: Complaint[]; notes: Complaint[]; lines: LineCounter };

const maxListDepth = 4;
const maxValueDepth = 200;

/** As rewrite-manifest.ts must read it too. */
export const yamlOptions = { intAsBigInt: true, merge: true, prettyErrors: false, logLevel: "error" } as const;

export function readManifests(text: string): Manifests {
  const lines = new LineCounter();
  const reading: Reading = { objects: [], errors: [], notes: [], lines };
  try {
    const whole = readPlainYaml(text) ?? asJson(text);
    if (whole !== undefined) {
      checkDepth(whole);
      readRoot(reading, whole, {
        place: { line: 1, column: 1 },
        node: null,
        depth: 0,
        where: { document: 0, path: [] },
      });
      return reading;
    }
    // Numbers are read as bigint and made small again where they fit, so that the ones that do not stay exact. As
    // kubectl does, "<<" merges; unlike it, a bare yes or no is text (YAML 1.2).
    const documents = parseAllDocuments(text, { lineCounter: lines, ...yamlOptions });
    for (const [index, document] of (Array.isArray(documents) ? documents : []).entries())
      readDocument(reading, document, index);
  } catch (error) {
    // A parser that recurses gives up on hostile nesting with a RangeError.
    const why = error instanceof RangeError ? "it is nested too deep" : firstLine(messageOf(error));
    reading.errors.push({ line: 1, column: 1, says: why });
  }
  return reading;
}

// JSON is YAML too, but its own parser is a hundred times faster. Where it fails, the other one says the place.
function asJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function readDocument(reading: Reading, document: Document.Parsed, index: number): void {
  for (const { pos, message } of document.errors) {
    // Where the parser's stack ended depends on who called it, so that place would say nothing.
    if (/call stack/.test(message)) throw new RangeError(message);
    reading.errors.push({ ...placeAt(reading.lines, pos[0]), says: firstLine(message) });
  }
  if (document.errors.length > 0 || document.contents === null) return;
  const place = placeOf(reading.lines, document.contents);
  const value = toPlainNumbers(document.toJS({ maxAliasCount: 100 }));
  if (value !== null && value !== undefined) {
    readRoot(reading, value, { place, node: document.contents, depth: 0, where: { document: index, path: [] } });
  }
}

type At = { readonly place: Place; readonly node: Node | null; readonly depth: number; readonly where: Where };

function readRoot(reading: Reading, value: unknown, at: At): void {
  if (isRecord(value)) readValue(reading, value, at);
  else reading.errors.push({ ...at.place, says: "a manifest must be a mapping with apiVersion, kind and metadata" });
}

function readValue(reading: Reading, value: JsonRecord, at: At): void {
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    const says = `${typeof apiVersion === "string" ? "kind" : "apiVersion"} is missing or is not text`;
    reading.errors.push({ ...at.place, says });
  } else if (kind.endsWith("List") && Array.isArray(value.items)) readList(reading, value, { ...at, apiVersion, kind });
  else readObject(reading, value, { place: at.place, where: at.where, apiVersion, kind });
}

function readList(reading: Reading, list: JsonRecord, at: At & { apiVersion: string; kind: string }): void {
  if (at.depth >= maxListDepth) {
    reading.errors.push({ ...at.place, says: `Lists are nested deeper than ${maxListDepth} levels` });
    return;
  }
  const nodes = isMap(at.node) ? (at.node as YAMLMap<unknown, Node | null>).get("items", true) : undefined;
  const elementKind = at.kind.slice(0, -"List".length);
  for (const [index, item] of (list.items as unknown[]).entries()) {
    const node = isSeq(nodes) ? ((nodes.items[index] as Node | undefined) ?? null) : null; // yaml's items are nodes
    const place = node === null ? at.place : placeOf(reading.lines, node);
    if (!isRecord(item)) {
      reading.errors.push({ ...place, says: "an item of a List must be a mapping" });
      continue;
    }
    // Items of a typed list (PodList) need not repeat what the list says.
    const typed = elementKind === "" ? item : { apiVersion: at.apiVersion, kind: elementKind, ...item };
    const where = { document: at.where.document, path: [...at.where.path, "items", index] };
    readValue(reading, typed, { place, node, depth: at.depth + 1, where });
  }
}

function readObject(
  reading: Reading,
  value: JsonRecord,
  from: { place: Place; where: Where; apiVersion: string; kind: string },
): void {
  const recognised = recognise(from.apiVersion, from.kind);
  if (recognised.is === "other") return;
  if (recognised.is === "other-version") {
    const says = `${from.apiVersion} ${from.kind} is not read; write apiVersion: ${recognised.apiVersion}`;
    reading.notes.push({ ...from.place, says });
    return;
  }
  try {
    const id = identify(recognised.kind, value, { defaultNamespace: "default" });
    reading.objects.push({ kind: recognised.kind, id, value, place: from.place, where: from.where });
  } catch (error) {
    reading.errors.push({ ...from.place, says: messageOf(error) });
  }
}

function checkDepth(value: unknown, depth = 0): void {
  if (depth > maxValueDepth) throw new RangeError("too deep");
  if (typeof value === "object" && value !== null) for (const item of Object.values(value)) checkDepth(item, depth + 1);
}

function toPlainNumbers(value: unknown, depth = 0): unknown {
  if (depth > maxValueDepth) throw new RangeError("too deep");
  if (typeof value === "bigint") {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }
  if (Array.isArray(value)) return value.map((item) => toPlainNumbers(item, depth + 1));
  if (!isRecord(value)) return value;
  const copy: JsonRecord = {};
  for (const [name, field] of Object.entries(value)) {
    // defineProperty, because assigning to a field called __proto__ would change the prototype instead.
    Object.defineProperty(copy, name, { value: toPlainNumbers(field, depth + 1), enumerable: true, writable: true });
  }
  return copy;
}

function placeOf(lines: LineCounter, node: Node): Place {
  return placeAt(lines, node.range?.[0] ?? 0);
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? "").slice(0, 200);
}

// Changes one object in the text of a manifest file and leaves the rest of it as its author wrote it. Pure: text in, text out.
//
// A file in the plain form (plain-yaml.ts), which is what this datastore writes, is written anew. In every other one the object's own text is
// replaced, and within that text the fields that did not change keep their comments and quoting. What comes out is read again before it is
// answered: where an anchor or a merge key would have changed another object, or a field, a blunter way is taken.
import { type Document, isCollection, isMap, isScalar, isSeq, type Node, parseAllDocuments, parseDocument } from "yaml";
import { isRecord, type JsonRecord, parseJson, writeJson } from "../../../base/lib/index.ts";
import { readPlainYaml, writePlainYaml } from "./plain-yaml.ts";
import { type ManifestObject, readManifests, yamlOptions } from "./read-manifests.ts";

type Path = readonly (string | number)[];

/** The text with the object's value replaced. Throws where no way leads there without changing another object. */
export function replaceObject(text: string, object: ManifestObject, value: JsonRecord): string {
  const ordered = inOrderOf(value, object.value);
  if (readPlainYaml(text) !== undefined) return writePlainYaml(ordered);
  const ways = [
    () => replaceInJson(text, object.where.path, ordered),
    () => replaceInYaml(text, object, (old) => editedText(old, object.value, ordered)),
    () => replaceInYaml(text, object, (old) => (old.startsWith("{") ? writeJson(ordered) : writePlainYaml(ordered))),
    () => replaceDocument(text, object, ordered),
  ];
  return firstThatHolds(text, object, ways, ordered);
}

/** The text without the object; undefined where nothing is left that anybody would miss. */
export function removeObject(text: string, object: ManifestObject): string | undefined {
  const { path } = object.where;
  if (path.length === 0 && (readPlainYaml(text) !== undefined || isJson(text))) return undefined;
  if (isJson(text)) {
    const json = parseJson(text);
    const way = lengthOfList(json, path) === 1 ? path.slice(0, -2) : path;
    return way.length === 0 ? undefined : jsonLike(text, withoutItem(json, way));
  }
  const ways = [() => removeFromYaml(text, object), () => removeByParser(text, object)];
  const rest = firstThatHolds(text, object, ways, undefined);
  return /^(?:\s|---|\.\.\.)*$/.test(rest) ? undefined : rest;
}

/** Every other object must be as it was, and this one as wanted. */
function firstThatHolds(
  text: string,
  object: ManifestObject,
  ways: readonly (() => string | undefined)[],
  wanted: JsonRecord | undefined,
): string {
  const before = readManifests(text).objects;
  const expected = before.flatMap(({ kind, id, value, where }) => {
    const isThis = writeJson(where) === writeJson(object.where);
    if (isThis && wanted === undefined) return [];
    return [writeJson([kind, id, sorted(isThis ? wanted : value)])];
  });
  for (const way of ways) {
    const next = way();
    if (next === undefined) continue;
    const { objects, errors } = readManifests(next);
    const found = objects.map(({ kind, id, value }) => writeJson([kind, id, sorted(value)]));
    if (errors.length === 0 && writeJson(found) === writeJson(expected)) return next;
  }
  throw new RangeError("the object cannot be changed in this file without changing another one");
}

function isJson(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

function replaceInJson(text: string, path: Path, value: JsonRecord): string | undefined {
  return isJson(text) ? jsonLike(text, withAt(parseJson(text), path, value)) : undefined;
}

/** With the indentation that the text has. */
function jsonLike(text: string, value: unknown): string {
  const indent = /^\s*[{[]\r?\n([ \t]+)/.exec(text)?.[1];
  const end = text.endsWith("\n") ? "\n" : "";
  return (indent === undefined ? writeJson(value) : writeJson(value, indent)) + end;
}

function withAt(value: unknown, path: Path, put: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return put;
  if (Array.isArray(value)) return value.map((item, i) => (i === first ? withAt(item, rest, put) : item));
  return isRecord(value) ? { ...value, [first]: withAt(value[first], rest, put) } : value;
}

function withoutItem(value: unknown, path: Path): unknown {
  const [first, ...rest] = path;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((_, i) => i !== first);
    return value.map((item, i) => (i === first ? withoutItem(item, rest) : item));
  }
  return isRecord(value) && first !== undefined ? { ...value, [first]: withoutItem(value[first], rest) } : value;
}

function lengthOfList(value: unknown, path: Path): number {
  const list = path.slice(0, -1).reduce<unknown>((at, step) => Object(at)[step], value);
  return Array.isArray(list) ? list.length : 0;
}

function documentsOf(text: string): Document.Parsed[] {
  const documents = parseAllDocuments(text, yamlOptions);
  return Array.isArray(documents) ? documents : [];
}

function nodeAt(document: Document.Parsed | undefined, path: Path): Node | undefined {
  const node = path.length === 0 ? document?.contents : document?.getIn(path, true);
  return node === null || node === undefined ? undefined : (node as Node); // getIn(…, true) answers nodes
}

/** `edit` has the object's own text, its indentation taken away. */
function replaceInYaml(
  text: string,
  { where }: ManifestObject,
  edit: (old: string) => string | undefined,
): string | undefined {
  const range = nodeAt(documentsOf(text)[where.document], where.path)?.range;
  if (range === null || range === undefined) return undefined;
  const [start, end] = range;
  const indent = " ".repeat(start - (text.lastIndexOf("\n", start - 1) + 1));
  const old = text.slice(start, end);
  const next = edit(old.replaceAll(`\n${indent}`, "\n"));
  if (next === undefined) return undefined;
  const body = next.replace(/\n$/, "").replaceAll(/\n(?=[^\n])/g, `\n${indent}`);
  return text.slice(0, start) + body + (old.endsWith("\n") ? "\n" : "") + text.slice(end);
}

function editedText(old: string, before: JsonRecord, after: JsonRecord): string | undefined {
  const document = parseDocument(old, yamlOptions);
  if (document.errors.length > 0) return undefined;
  try {
    change(document, [], before, after);
    return document.toString({ lineWidth: 0, flowCollectionPadding: false });
  } catch {
    return undefined; // an alias to elsewhere, or a form that cannot be edited: the plain form is written
  }
}

function change(document: Document.Parsed, path: Path, before: unknown, after: unknown): void {
  if (writeJson(before) === writeJson(after)) return;
  const node = nodeAt(document, path);
  if (isRecord(before) && isRecord(after) && isMap(node)) {
    for (const name of Object.keys(before)) if (after[name] === undefined) document.deleteIn([...path, name]);
    for (const [name, value] of Object.entries(after)) {
      if (value === undefined) continue;
      if (before[name] === undefined) document.setIn([...path, name], document.createNode(value));
      else change(document, [...path, name], before[name], value);
    }
  } else if (Array.isArray(before) && Array.isArray(after) && isSeq(node)) {
    for (let i = before.length - 1; i >= after.length; i--) document.deleteIn([...path, i]);
    for (const [i, item] of after.entries()) {
      if (i < before.length) change(document, [...path, i], before[i], item);
      else document.addIn(path, document.createNode(item));
    }
  } else if (isScalar(node) && !isCollectionValue(after)) {
    node.value = after;
    if (typeof after !== typeof before) delete node.type;
    delete node.source;
  } else document.setIn(path, document.createNode(after));
}

function isCollectionValue(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function replaceDocument(text: string, { where }: ManifestObject, value: JsonRecord): string | undefined {
  const document = documentsOf(text)[where.document];
  const range = document?.contents?.range;
  if (document === undefined || range === null || range === undefined) return undefined;
  const whole = withAt(document.toJS({ maxAliasCount: 100 }), where.path, value);
  return isRecord(whole) ? text.slice(0, range[0]) + writePlainYaml(whole) + text.slice(range[1]) : undefined;
}

function removeFromYaml(text: string, { where }: ManifestObject): string | undefined {
  const documents = documentsOf(text);
  const document = documents[where.document];
  const list = where.path.length === 0 ? undefined : nodeAt(document, where.path.slice(0, -1));
  const index = Number(where.path.at(-1));
  if (isSeq(list) && list.items.length > 1)
    return list.flow === true ? undefined : withoutLines(text, list.items, index);
  if (where.path.length > 2) return undefined; // the last item of a List in a List: the parser's way
  return withoutDocument(text, documents, where.document);
}

/** An item's lines go, from its dash to the next one's. */
function withoutLines(text: string, items: readonly unknown[], index: number): string | undefined {
  const startOf = (item: unknown) => (isCollection(item) ? item.range?.[0] : undefined);
  const from = startOf(items[index]);
  if (from === undefined) return undefined;
  const lineOf = (offset: number) => text.lastIndexOf("\n", offset - 1) + 1;
  const following = startOf(items[index + 1]);
  const last = items[index];
  const end = following === undefined ? (isCollection(last) ? last.range?.[1] : undefined) : lineOf(following);
  return end === undefined ? undefined : text.slice(0, lineOf(from)) + text.slice(end);
}

// A comment that a blank line separates from the document is about something else, and stays.
function withoutDocument(text: string, documents: readonly Document.Parsed[], index: number): string | undefined {
  const contents = documents[index]?.contents?.range;
  if (contents === null || contents === undefined) return undefined;
  const from = index === 0 ? 0 : documents[index]?.range[0];
  const until = documents[index + 1]?.range[0] ?? text.length;
  if (from === undefined) return undefined;
  const head = text.slice(from, contents[0]);
  const tail = text.slice(contents[1], until);
  const keptHead = withComment(head.slice(0, head.lastIndexOf("\n\n") + 1));
  const keptTail = withComment(
    tail.includes("\n\n") ? tail.slice(tail.indexOf("\n\n") + 2) : tail.startsWith("\n") ? tail.slice(1) : "",
  );
  return text.slice(0, from) + keptHead + keptTail + text.slice(until);
}

function withComment(text: string): string {
  return text.includes("#") ? text : "";
}

function removeByParser(text: string, { where }: ManifestObject): string | undefined {
  const document = documentsOf(text)[where.document];
  const range = document?.contents?.range;
  if (document === undefined || range === null || range === undefined || where.path.length === 0) return undefined;
  document.deleteIn(where.path);
  return (
    text.slice(0, range[0]) +
    String(document.contents === null ? "" : parseDocument(String(document)).toString()).replace(/^---\n/, "") +
    text.slice(range[1])
  );
}

/** The new value with its fields in the order of the old one, so that git shows only what changed. */
export function inOrderOf(value: JsonRecord, like: unknown): JsonRecord {
  if (!isRecord(like)) return value;
  const ordered: { [name: string]: unknown } = {};
  for (const name of [...Object.keys(like), ...Object.keys(value)]) {
    if (Object.hasOwn(ordered, name) || !Object.hasOwn(value, name)) continue;
    const field = value[name];
    const put = isRecord(field) ? inOrderOf(field, like[name]) : field;
    Object.defineProperty(ordered, name, { value: put, enumerable: true, writable: true, configurable: true });
  }
  return ordered;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)]);
}

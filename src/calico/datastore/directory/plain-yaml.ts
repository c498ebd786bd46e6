// The form in which this datastore writes objects: a small part of YAML that people can read, that git can compare line by line, and that can
// be read back without a whole YAML parser (yaml's takes 0.7 ms for an object of 15 lines, this one 0.02 ms; bench/datastore/folder.ts).
//
//   kind: IPAMBlock
//   metadata:
//     name: 10-0-0-0-26
//   spec:
//     allocations: [null, 0, 1]          lists of numbers, booleans and nulls on one line, long ones in rows
//     attributes:
//       - handle_id: net.c1              all other lists one item a line
//     sequenceNumber: 1794729939941964722
//
// readPlainYaml() takes this form and nothing else: for a comment, an anchor, another quoting or indentation it answers undefined, and the whole
// parser reads the file. What it does answer is what the whole parser would (plain-yaml.test.ts: both are asked).
import { isRecord, type JsonRecord, parseJson, writeJson } from "../../../base/lib/index.ts";

const rowLength = 16;
const longestRow = 100;
/** YAML itself ends a key at 1024 characters. */
const longestKey = 1000;

/** Text that is no number, truth value, null or date in any version of YAML (Go's readers take the 1.1 ones: yes, on, 0x1, 1_000, 2026-01-01). */
const plainText = /^(?:[A-Za-z_][\w./-]*(?: [\w./-]+)*|\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?)$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const reserved = /^(?:true|false|yes|no|on|off|null|y|n|nan|inf|_+)$/i;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** What must not be written as it is. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;

/** The text of a value, whose lines begin with the indentation but for the first. Throws for what no YAML can hold. */
export function writePlainYaml(value: JsonRecord, indent = ""): string {
  return mapLines(value, indent).join("\n") + (indent === "" ? "\n" : "");
}

function mapLines(map: JsonRecord, indent: string): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(map)) {
    if (value === undefined) continue;
    if (name.length > longestKey) throw new RangeError(`a field's name has more than ${longestKey} characters`);
    addValue(lines, { start: `${lines.length === 0 ? "" : indent}${scalarText(name)}:`, value, indent });
  }
  return lines.length === 0 ? ["{}"] : lines;
}

function addValue(lines: string[], { start, value, indent }: { start: string; value: unknown; indent: string }): void {
  const inner = `${indent}  `;
  if (isRecord(value)) {
    if (isEmpty(value)) lines.push(`${start} {}`);
    else lines.push(start, ...mapLines(value, inner).map((line, i) => (i === 0 ? inner + line : line)));
  } else if (!Array.isArray(value)) lines.push(`${start} ${scalarText(value)}`);
  else if (value.every(isShort)) lines.push(...rowsOf(value, start, inner));
  else {
    lines.push(start);
    for (const item of value) addItem(lines, item, inner);
  }
}

function addItem(lines: string[], item: unknown, indent: string): void {
  if (isRecord(item) && !isEmpty(item)) {
    lines.push(...mapLines(item, `${indent}  `).map((line, i) => (i === 0 ? `${indent}- ${line}` : line)));
  } else if (Array.isArray(item) || isRecord(item)) lines.push(`${indent}- ${flowText(item)}`);
  else lines.push(`${indent}- ${scalarText(item ?? null)}`);
}

function rowsOf(items: readonly unknown[], start: string, inner: string): string[] {
  const texts = items.map((item) => scalarText(item ?? null));
  const one = `${start} [${texts.join(", ")}]`;
  if (one.length <= longestRow) return [one];
  const lines = [`${start} [`];
  for (let i = 0; i < texts.length; i += rowLength) {
    const isLast = i + rowLength >= texts.length;
    lines.push(`${inner}${texts.slice(i, i + rowLength).join(", ")}${isLast ? "]" : ","}`);
  }
  return lines;
}

/** A list within a list is rare, and JSON. */
function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item ?? null)).join(", ")}]`;
  if (!isRecord(value)) return typeof value === "string" ? quoted(value) : scalarText(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${quoted(name)}: ${flowText(field)}`).join(", ")}}`;
}

function scalarText(value: unknown): string {
  if (typeof value !== "string") return writeJson(value) ?? "null";
  if ((plainText.test(value) || uuid.test(value)) && !reserved.test(value)) return value;
  const isBetterSingle = value.includes('"') && !value.includes("'") && !unprintable.test(value);
  return isBetterSingle ? `'${value}'` : quoted(value);
}

function quoted(text: string): string {
  const json = JSON.stringify(text);
  if (!unprintable.test(json)) return json;
  return json.replace(new RegExp(unprintable, "gu"), (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function isShort(value: unknown): boolean {
  return value === null || value === undefined || ["number", "boolean", "bigint"].includes(typeof value);
}

function isEmpty(map: JsonRecord): boolean {
  return Object.values(map).every((value) => value === undefined);
}

/** The one object in the text, or undefined where it is not in the plain form. */
export function readPlainYaml(text: string): JsonRecord | undefined {
  if (!text.endsWith("\n") || !/^[A-Za-z]/.test(text)) return undefined;
  const reading: Reading = { lines: text.slice(0, -1).split("\n"), at: 0 };
  try {
    const value = readMap(reading, 0, 0);
    return reading.at === reading.lines.length ? value : undefined;
  } catch (error) {
    if (error === notPlain || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type Reading = { readonly lines: readonly string[]; at: number };
const notPlain = new Error("not the plain form");
const deepest = 200;

function readMap(reading: Reading, indent: number, depth: number): JsonRecord {
  if (depth > deepest) throw notPlain;
  const map: { [name: string]: unknown } = {};
  let isFirst = true;
  for (; reading.at < reading.lines.length; isFirst = false) {
    const line = reading.lines[reading.at] ?? "";
    // The first line of a map that is an item has its dash where the indentation would be.
    if (!isFirst || depth === 0 || !isAfterDash(line, indent)) {
      const actual = indentOf(line);
      if (actual < indent && !isFirst) break;
      if (actual !== indent) throw notPlain;
    }
    const { name, rest } = fieldOf(line, indent);
    if (Object.hasOwn(map, name)) throw notPlain;
    reading.at += 1;
    const value = rest === undefined ? readBlock(reading, indent, depth) : readInline(reading, rest, indent);
    Object.defineProperty(map, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return map;
}

function fieldOf(line: string, indent: number): { name: string; rest: string | undefined } {
  const first = line.charAt(indent);
  let end: number;
  if (first === '"' || first === "'") {
    end = closingQuote(line, indent);
    if (line[end] !== ":") throw notPlain;
  } else end = line.indexOf(":", indent);
  if (end < 0 || end - indent > longestKey) throw notPlain;
  const name = readScalar(line.slice(indent, end));
  if (typeof name !== "string") throw notPlain;
  if (end === line.length - 1) return { name, rest: undefined };
  if (line[end + 1] !== " ") throw notPlain;
  return { name, rest: line.slice(end + 2) };
}

function closingQuote(line: string, start: number): number {
  const quote = line[start];
  for (let i = start + 1; i < line.length; i++) {
    if (line[i] === "\\" && quote === '"') i += 1;
    else if (line[i] === quote) return i + 1;
  }
  throw notPlain;
}

/** What stands below a field with nothing after its colon. */
function readBlock(reading: Reading, indent: number, depth: number): unknown {
  const line = reading.lines[reading.at];
  if (line === undefined || indentOf(line) !== indent + 2) throw notPlain;
  if (!line.startsWith("- ", indent + 2)) return readMap(reading, indent + 2, depth + 1);
  const items: unknown[] = [];
  while (reading.at < reading.lines.length) {
    const item = reading.lines[reading.at] ?? "";
    const actual = indentOf(item);
    if (actual <= indent) break;
    if (actual !== indent + 2 || !item.startsWith("- ", actual)) throw notPlain;
    items.push(readItem(reading, item.slice(actual + 2), { indent: actual, depth: depth + 1 }));
  }
  return items;
}

function readItem(reading: Reading, text: string, at: { indent: number; depth: number }): unknown {
  if (/^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w./-]+(?: [\w./-]+)*):(?: |$)/.test(text))
    return readMap(reading, at.indent + 2, at.depth);
  reading.at += 1;
  return readInline(reading, text, at.indent);
}

function readInline(reading: Reading, text: string, indent: number): unknown {
  const first = text[0];
  if (first === "{") return readFlow(text);
  if (first !== "[") return readScalar(text);
  if (text !== "[") return readFlow(text);
  const rows: string[] = [];
  for (;;) {
    const row = reading.lines[reading.at];
    if (row === undefined || indentOf(row) <= indent) throw notPlain;
    reading.at += 1;
    rows.push(row);
    if (row.endsWith("]")) break;
  }
  const joined = rows.map((row) => row.trimStart()).join(" ");
  if (!/^[-\w.+, ]+\]$/.test(joined)) throw notPlain;
  return readFlow(`[${joined}`);
}

// JSON takes a comma or bracket without a space after it and tabs anywhere, YAML not everywhere: only our own spacing is taken.
function readFlow(text: string): unknown {
  const value = parseJson(text);
  if (value !== null && typeof value === "object" && flowText(value) === text) return value;
  throw notPlain;
}

function readScalar(text: string): unknown {
  const first = text[0];
  if (first === '"') {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== "string" || quoted(value) !== text) throw notPlain;
    return value;
  }
  if (first === "'") {
    const inner = text.slice(1, -1);
    if (text.length < 2 || !text.endsWith("'") || inner.includes("'") || unprintable.test(inner)) throw notPlain;
    return inner;
  }
  if (text === "null") return null;
  if (text === "true") return true;
  if (text === "false") return false;
  if (number.test(text)) return parseJson(text);
  if ((plainText.test(text) || uuid.test(text)) && !reserved.test(text)) return text;
  throw notPlain;
}

function isAfterDash(line: string, indent: number): boolean {
  return indent >= 2 && line.startsWith("- ", indent - 2) && indentOf(line) === indent - 2;
}

function indentOf(line: string): number {
  let i = 0;
  while (line[i] === " ") i += 1;
  if (i === line.length) throw notPlain;
  return i;
}

// Reads the YAML that people and programs nearly always write, without a package: loading one costs more than all the rest of
// reading a file (yaml's takes 20 ms of CPU; its reading itself is twenty times slower). Maps and lists by
// indentation, scalars on one line, comments, and JSON.
//
// What is not surely read right is not read: the answer is undefined, and whoever asks has a reader of the whole language.
// Whatever is answered is what that would answer (src/programs/ctl/yaml/quick-yaml.test.ts asks both).

import { readPlainScalar } from "./plain-scalar.ts";
import { readFlow, startsFlow } from "./quick-flow.ts";
import { type ReadScalar, unsure } from "./unsure.ts";

type Line = { readonly indent: number; readonly text: string };

/** A box, because null is an answer. Undefined: ask a reader of the whole language. */
export function readQuickly(
  text: string,
  readScalar: ReadScalar = readPlainScalar,
): { readonly value: unknown } | undefined {
  const plain = text.replaceAll("\r\n", "\n");
  if (/[^\n\x20-\x7e]/.test(plain)) return undefined;
  try {
    return { value: readWhole(plain, readScalar) };
  } catch (error) {
    // A regular expression has no room for a text of millions of escapes.
    if (error === unsure || error instanceof RangeError) return undefined;
    throw error;
  }
}

const deepest = 50;
const key = /^([A-Za-z_/][\w./-]*|"[^"\\]*"|'[^']*'):(?: +(.*))?$/;

function readWhole(text: string, readScalar: ReadScalar): unknown {
  if (startsFlow(text.trimStart())) return readFlow(text.trim(), readScalar);
  const lines = significantLines(text);
  if (lines[0]?.indent === 0 && /^---(?: *| +#.*)$/.test(lines[0].text)) lines.shift();
  const [first] = lines;
  if (first === undefined) return null;
  if (first.indent !== 0) throw unsure;
  const reader = new Reader(lines, readScalar);
  const value = reader.block(0, 0);
  if (!reader.isAtEnd) throw unsure;
  return value;
}

/** Without those of blanks or of a comment. */
function significantLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split("\n")) {
    const indent = line.search(/[^ ]/);
    if (indent >= 0 && line[indent] !== "#") lines.push({ indent, text: line.slice(indent).trimEnd() });
  }
  return lines;
}

class Reader {
  readonly #lines: readonly Line[];
  readonly #readScalar: ReadScalar;
  #at = 0;

  constructor(lines: readonly Line[], readScalar: ReadScalar) {
    this.#lines = lines;
    this.#readScalar = readScalar;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The map or list whose lines begin at this column. */
  block(indent: number, depth: number): unknown {
    if (depth > deepest) throw unsure;
    return isItem(this.#next?.text ?? "") ? this.#list(indent, depth) : this.#map(indent, depth);
  }

  get #next(): Line | undefined {
    return this.#lines[this.#at];
  }

  /** `first` is what follows the dash of an item, as if it stood on a line of its own. */
  #map(indent: number, depth: number, first?: string): unknown {
    const map: { [name: string]: unknown } = {};
    for (let entry = first ?? this.#entryAt(indent); entry !== undefined; entry = this.#entryAt(indent)) {
      const [, quotedName = "", rest = ""] = key.exec(entry) ?? [];
      if (quotedName === "") throw unsure;
      this.#at += 1;
      const name = nameOf(quotedName, this.#readScalar);
      if (Object.hasOwn(map, name) || name === "__proto__") throw unsure;
      map[name] = this.#value(rest, { indent, depth, isInMap: true });
    }
    return map;
  }

  /** Undefined: the map has ended. */
  #entryAt(indent: number): string | undefined {
    const next = this.#next;
    if (next === undefined || next.indent < indent) return undefined;
    if (next.indent > indent || isItem(next.text)) throw unsure;
    return next.text;
  }

  #list(indent: number, depth: number): unknown {
    const items: unknown[] = [];
    for (let next = this.#next; next !== undefined && next.indent === indent && isItem(next.text); next = this.#next) {
      const content = next.text.slice(1).trimStart();
      const column = indent + next.text.length - content.length;
      if (isItem(content)) throw unsure;
      if (key.test(content)) items.push(this.#map(column, depth + 1, content));
      else {
        this.#at += 1;
        items.push(this.#value(content, { indent, depth, isInMap: false }));
      }
    }
    return items;
  }

  /** What stands after a colon or a dash, or below it where there is nothing. */
  #value(text: string, { indent, depth, isInMap }: { indent: number; depth: number; isInMap: boolean }): unknown {
    const next = this.#next;
    const isBelow = next !== undefined && next.indent > indent;
    if (text === "" || text.startsWith("#")) {
      if (isBelow) return this.block(next.indent, depth + 1);
      // A list may stand at the column of its key.
      const isListHere = isInMap && next !== undefined && next.indent === indent && isItem(next.text);
      return isListHere ? this.#listOfKey(indent, depth) : null;
    }
    if (isBelow) throw unsure; // it goes on there
    return scalarOrFlow(text, this.#readScalar);
  }

  #listOfKey(indent: number, depth: number): unknown {
    if (depth > deepest) throw unsure;
    return this.#list(indent, depth + 1);
  }
}

function isItem(text: string): boolean {
  return text === "-" || text.startsWith("- ");
}

function nameOf(text: string, readScalar: ReadScalar): string {
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (typeof readScalar(text) !== "string") throw unsure; // true, y and their like
  return text;
}

/** Anything else may be an anchor, a tag, a text of several lines, or nothing that YAML knows. */
const plainStart = /^(?:[A-Za-z0-9_./+(~]|-(?=[^ -]))/;
const ended = /^(?: +#.*)?$/;

function scalarOrFlow(text: string, readScalar: ReadScalar): unknown {
  if (startsFlow(text)) {
    const comment = text.search(/(?<! ) +#[^"'\]}]*$/);
    return readFlow(comment < 0 ? text : text.slice(0, comment), readScalar);
  }
  const [, quoted, rest] = /^("[^"\\]*(?:\\["\\/bfnrt][^"\\]*)*"|'[^']*(?:''[^']*)*')(.*)$/.exec(text) ?? [];
  if (quoted !== undefined) {
    if (!ended.test(rest ?? "")) throw unsure;
    return quoted.startsWith('"') ? JSON.parse(quoted) : quoted.slice(1, -1).replaceAll("''", "'");
  }
  const comment = text.search(/(?<! ) +#/);
  const plain = comment < 0 ? text : text.slice(0, comment);
  if (!plainStart.test(plain) || /:(?: |$)/.test(plain) || plain.startsWith("...")) throw unsure;
  return readScalar(plain);
}

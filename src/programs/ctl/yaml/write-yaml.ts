// YAML to the letter as the original writes it (sigs.k8s.io/yaml over go-yaml 2): keys in its natural order, lists at the
// indentation of their key, quotes only where a YAML 1.1 reader needs them, texts broken at a space after column 80.
// write-yaml.test.ts compares with what Go wrote.
import { meansMoreThanText } from "../../../base/yaml/index.ts";
import { printGoFloat } from "../../../calico/model/index.ts";
import { compareKeys } from "./key-order.ts";

const indentStep = 2;
const widestLine = 80;
/** A longer key, in bytes, is written after a question mark. */
const longestSimpleKey = 128;
const partsOfChunk = 16_384;
const spaces = " ".repeat(200);

/** Of JSON. The text ends with a new line. */
export function writeYaml(value: unknown): string {
  const chunks: string[] = [];
  writeYamlTo(value, (chunk) => chunks.push(chunk));
  return chunks.join("");
}

/** In chunks, so that a list of thousands of objects is never one text. */
export function writeYamlTo(value: unknown, take: (chunk: string) => void): void {
  const writer = new Writer(take);
  writer.node(value, { indent: -indentStep, isMapValue: false });
  writer.end();
}

/** Where a node stands: the indentation of what it is part of. */
type At = {
  readonly indent: number;
  /** The list of a map's value is not indented further. */
  readonly isMapValue: boolean;
};

/** Knows the column it is at, and whether a new line has to begin. */
class Writer {
  readonly #take: (chunk: string) => void;
  /** What is written since the last chunk; joining them once is far cheaper than adding each to a text. */
  #parts: string[] = [];
  #column = 0;
  /** Nothing but indentation and dashes stands on this line yet. */
  #isAtStart = true;
  /** The last character is a space, or the line is empty. */
  #isSpaced = true;

  constructor(take: (chunk: string) => void) {
    this.#take = take;
  }

  end(): void {
    if (this.#column > 0) this.#newLine();
    this.#hand();
  }

  #hand(): void {
    this.#take(this.#parts.join(""));
    this.#parts = [];
  }

  node(value: unknown, at: At): void {
    if (Array.isArray(value)) this.#list(value, at);
    else if (typeof value === "object" && value !== null) this.#map(value as { [name: string]: unknown }, at);
    else if (typeof value === "string") this.#string(value, { indent: at.indent, isSimpleKey: false });
    else this.#word(scalarText(value));
  }

  #list(items: readonly unknown[], { indent, isMapValue }: At): void {
    if (items.length === 0) this.#word("[]");
    const inner = isMapValue && !this.#isAtStart ? Math.max(indent, 0) : indent + indentStep;
    for (const item of items) {
      this.#indent(inner);
      this.#mark("-");
      this.node(item ?? null, { indent: inner, isMapValue: false });
    }
  }

  #map(map: { [name: string]: unknown }, { indent }: At): void {
    const names = Object.keys(map).sort(compareKeys);
    const inner = indent + indentStep;
    let isEmpty = true;
    for (const name of names) {
      if (map[name] === undefined) continue;
      isEmpty = false;
      this.#indent(inner);
      if (isSimpleKey(name)) {
        this.#string(name, { indent: inner, isSimpleKey: true });
        this.#put(":");
        this.#isSpaced = false;
        this.#isAtStart = false;
      } else {
        this.#mark("?");
        this.#string(name, { indent: inner, isSimpleKey: false });
        this.#indent(inner);
        this.#mark(":");
      }
      this.node(map[name], { indent: inner, isMapValue: true });
    }
    if (isEmpty) this.#word("{}");
  }

  /** A dash and its like: what follows may begin on the same line. */
  #mark(mark: string): void {
    const wasAtStart = this.#isAtStart;
    this.#space();
    this.#put(mark);
    this.#isSpaced = false;
    this.#isAtStart = wasAtStart;
  }

  #word(text: string): void {
    this.#space();
    this.#put(text);
    this.#isSpaced = false;
    this.#isAtStart = false;
  }

  #string(text: string, { indent, isSimpleKey }: { indent: number; isSimpleKey: boolean }): void {
    const below = Math.max(indent, 0) + indentStep;
    const folded = isSimpleKey ? undefined : below;
    const style = styleOf(text, isSimpleKey);
    if (style === "literal") {
      this.#literal(text, below);
      return;
    }
    this.#space();
    if (style === "double") this.#doubleQuoted(text, folded);
    else this.#breakable(text, { folded, quote: style === "single" ? "'" : "" });
    this.#isSpaced = false;
    this.#isAtStart = false;
  }

  /** Plain or in single quotes: a text without line breaks of its own. */
  #breakable(text: string, { folded, quote }: { folded: number | undefined; quote: "" | "'" }): void {
    this.#put(quote);
    const written = quote === "" ? text : text.replaceAll("'", "''");
    if (folded === undefined || this.#column + written.length <= widestLine) this.#put(written);
    else {
      for (const [index, character] of [...written].entries()) {
        // Spaces at the ends are only in quotes, and stay there; one of several spaces is no place to break at.
        const isAlone = character === " " && written[index - 1] !== " " && written[index + 1] !== " ";
        const isInside = index > 0 && index < written.length - 1;
        if (isAlone && isInside && this.#column > widestLine) this.#breakLine(folded);
        else this.#put(character);
      }
    }
    this.#put(quote);
  }

  #doubleQuoted(text: string, folded: number | undefined): void {
    this.#put('"');
    const characters = [...text];
    let afterSpace = false;
    for (const [index, character] of characters.entries()) {
      if (character !== " ") {
        this.#put(isWritten(character) ? character : escaped(character));
        afterSpace = false;
        continue;
      }
      const isInside = index > 0 && index < characters.length - 1;
      if (folded !== undefined && !afterSpace && this.#column > widestLine && isInside) {
        this.#breakLine(folded);
        if (characters[index + 1] === " ") this.#put("\\");
      } else this.#put(" ");
      afterSpace = true;
    }
    this.#put('"');
  }

  #literal(text: string, indent: number): void {
    this.#word(`|${/^[ \n]/.test(text) ? indentStep : ""}${chomping(text)}`);
    this.#newLine();
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) this.#newLine();
      if (line !== "") this.#put(blanks(indent) + line);
    }
    this.#isAtStart = this.#column === 0;
    this.#isSpaced = this.#column === 0;
  }

  /** To the start of an entry: on a new line, unless this one is still empty up to there. */
  #indent(indent: number): void {
    if (!this.#isAtStart || this.#column > indent || (this.#column === indent && !this.#isSpaced)) this.#newLine();
    this.#put(blanks(indent - this.#column));
    this.#isAtStart = true;
    this.#isSpaced = true;
  }

  #breakLine(indent: number): void {
    this.#newLine();
    this.#put(blanks(indent));
  }

  #newLine(): void {
    this.#parts.push("\n");
    this.#column = 0;
    if (this.#parts.length > partsOfChunk) this.#hand();
  }

  #space(): void {
    if (!this.#isSpaced) this.#put(" ");
  }

  #put(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    this.#column += text.length;
    // The original counts characters, not the halves that JavaScript counts; only those are escaped, and never here.
  }
}

function blanks(count: number): string {
  return count <= spaces.length ? spaces.slice(0, count) : " ".repeat(count);
}

function isSimpleKey(name: string): boolean {
  if (name.length > longestSimpleKey || lineBreak.test(name)) return false;
  return name.length * 3 <= longestSimpleKey || new TextEncoder().encode(name).length <= longestSimpleKey;
}

function scalarText(value: unknown): string {
  if (typeof value !== "number") return String(value ?? null);
  // On its way the original has it as JSON, where it is a whole number without an exponent; those of 64 bits stay so.
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64) return String(value);
  return printGoFloat(value);
}

const plainest = /^[A-Za-z/_][\w/-]*(?:[.][\w/-]+)*(?:\(\))?$/;
const reserved = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function isPlainest(text: string): boolean {
  return plainest.test(text) && !(text.length <= 5 && reserved.test(text));
}

type Style = "plain" | "single" | "double" | "literal";

const lineBreak = /[\r\n\u0085\u2028\u2029]/;
const outsideSpaces = /^[ \r\n\u0085\u2028\u2029]|[ \r\n\u0085\u2028\u2029]$/;
const spaceThenBreak = / [\r\n\u0085\u2028\u2029]/;
/** What cannot begin or be inside a text without quotes. */
const indicators =
  /^(?:---|\.\.\.)|^[#,[\]{}&*!|>'"%@`]|^[-?:](?=[ \t]|$)|.:(?=[ \t]|$)|[ \t\r\n\0\u0085\u2028\u2029]#/su;
const notPrinted = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

function styleOf(text: string, isSimpleKey: boolean): Style {
  if (isPlainest(text)) return "plain"; // nearly all texts
  const isSpecial = notPrinted.test(text) || spaceThenBreak.test(text);
  if (text.includes("\n")) return !isSimpleKey && !isSpecial && !text.endsWith(" ") ? "literal" : "double";
  if (meansMoreThanText(text)) return "double";
  const isPlain = !isSpecial && !lineBreak.test(text) && !outsideSpaces.test(text) && !indicators.test(text);
  if (isPlain) return "plain";
  return isSpecial || lineBreak.test(text) ? "double" : "single";
}

function chomping(text: string): "" | "-" | "+" {
  if (!lineBreak.test(text.slice(-1))) return "-";
  return text.length === 1 || lineBreak.test(text.slice(-2, -1)) ? "+" : "";
}

const namedEscapes: { readonly [character: string]: string } = {
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\u0085": "N",
  "\u00a0": "_",
  "\u2028": "L",
  "\u2029": "P",
};

function isWritten(character: string): boolean {
  return !notPrinted.test(character) && !lineBreak.test(character) && character !== '"' && character !== "\\";
}

function escaped(character: string): string {
  const name = namedEscapes[character];
  if (name !== undefined) return `\\${name}`;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

// Lists and maps in brackets, for quick-yaml.ts: JSON, and [a, b] and {a: b} of plain words.
import { type ReadScalar, unsure } from "./unsure.ts";

const deepest = 50;
// Runs of plain characters are not choices: a choice for each would be remembered, and a text of megabytes would use up the stack.
const doubleQuoted = /"[^"\\\n]*(?:\\(?:["\\/bfnrt]|u(?!d[89a-f])[0-9a-f]{4})[^"\\\n]*)*"/iy;
const singleQuoted = /'[^'\n]*(?:''[^'\n]*)*'/y;
const plain = /[A-Za-z0-9_./(+-][\w./()+-]*(?: +[\w./()+-]+)*/y;
const blank = /[ \n]*/y;

export function startsFlow(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

/** The text is one list or map, and nothing else. Throws `unsure`. */
export function readFlow(text: string, readScalar: ReadScalar): unknown {
  const reader = new FlowReader(text, readScalar);
  const value = reader.value(0);
  if (!reader.isAtEnd) throw unsure;
  return value;
}

class FlowReader {
  readonly #text: string;
  readonly #readScalar: ReadScalar;
  #at = 0;

  constructor(text: string, readScalar: ReadScalar) {
    this.#text = text;
    this.#readScalar = readScalar;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  value(depth: number): unknown {
    if (depth > deepest) throw unsure;
    switch (this.#text[this.#at]) {
      case "[":
        return this.#list(depth);
      case "{":
        return this.#map(depth);
      case '"':
        return JSON.parse(this.#take(doubleQuoted));
      case "'":
        return this.#take(singleQuoted).slice(1, -1).replaceAll("''", "'");
      default:
        return this.#readScalar(this.#plain());
    }
  }

  #list(depth: number): unknown {
    const items: unknown[] = [];
    this.#at += 1;
    this.#take(blank);
    if (this.#isNext("]")) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      this.#take(blank);
      if (this.#isNext("]")) return items;
      this.#comma();
    }
  }

  #map(depth: number): unknown {
    const map: { [name: string]: unknown } = {};
    this.#at += 1;
    this.#take(blank);
    if (this.#isNext("}")) return map;
    for (;;) {
      const name = this.#name();
      if (Object.hasOwn(map, name) || name === "__proto__") throw unsure;
      this.#take(blank);
      map[name] = this.value(depth + 1);
      this.#take(blank);
      if (this.#isNext("}")) return map;
      this.#comma();
    }
  }

  /** With its colon, after which a plain name needs a blank. */
  #name(): string {
    const isQuoted = /["']/.test(this.#text[this.#at] ?? "");
    const name = isQuoted ? this.value(0) : this.#readScalar(this.#plain());
    if (typeof name !== "string" || !this.#isNext(":")) throw unsure;
    if (!isQuoted && !/[ \n]/.test(this.#text[this.#at] ?? "")) throw unsure;
    return name;
  }

  #plain(): string {
    const text = this.#take(plain);
    if (/^(?:-(?: |$)|---|\.\.\.)/.test(text)) throw unsure;
    return text;
  }

  #comma(): void {
    if (!this.#isNext(",")) throw unsure;
    this.#take(blank);
  }

  #isNext(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) throw unsure;
    this.#at = pattern.lastIndex;
    return match[0];
  }
}

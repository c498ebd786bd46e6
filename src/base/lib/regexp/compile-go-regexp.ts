// A regular expression of Go's as one of JavaScript's: settings that programs in Go read are full of them. What the two write differently is rewritten, from
// left to right: flags that hold from where they stand, classes with names, \A and \z, \Q...\E, names of groups. What stays different: \s, \w and
// \b are JavaScript's, and what is matched is the same text, but not always the same part of it (nobody here asks for the part).
import { isGoRegexp } from "./go-regexp.ts";

/** Throws SyntaxError for what Go would not compile. */
export function compileGoRegexp(text: string): RegExp {
  if (!isGoRegexp(text)) throw new SyntaxError(`${JSON.stringify(text)} is no regular expression as Go has them`);
  // Most are the same in both languages, and are shown to people as they wrote them.
  if (!different.test(text)) return new RegExp(text);
  return new RegExp(new Rewriting(text).whole(), "v");
}

/** Flags and names of groups, names in classes, a bracket that comes first in its class, repeated places, and escapes of letters and digits. */
const different = /\(\?|\[:|\[\^?\]|[\^$][*+?{]|\\(?:[bB][*+?{]|[^\W_dDsSwWbB])/;

const posix: { readonly [name: string]: string } = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t\\x20",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "\\x21-\\x7E",
  lower: "a-z",
  print: "\\x20-\\x7E",
  punct: "\\x21-\\x2F\\x3A-\\x40\\x5B-\\x60\\x7B-\\x7E",
  space: "\\t\\n\\v\\f\\r\\x20",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const flags = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;
const opening = /\((?:\?P?<\w+>)?/y;
const repeat = /(?:[*+?]|\{(?:0|[1-9]\d*)(?:,(?:0|[1-9]\d*)?)?\})\??/y;
const named = /\[:(\^?)([a-z]+):\]/y;
const unicode = /\\([pP])(?:\{(\^?)([^}]*)\}|(.))/uy;
const character = /\\(?:x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]+)\}|([0-7]{1,3})|([\s\S]))|[\s\S]/uy;
const places: readonly (readonly [go: string, here: string])[] = [
  ["\\A", "(?:(?<![^]))"],
  ["\\z", "(?:(?![^]))"],
  // In brackets, because Go lets places be repeated.
  ["\\b", "(?:\\b)"],
  ["\\B", "(?:\\B)"],
  ["^", "(?:^)"],
  ["$", "(?:$)"],
  [".", "."],
];
const kinds = ["\\d", "\\D", "\\s", "\\S", "\\w", "\\W"];

/** Those that are on, in this order. */
type Flags = string;

class Rewriting {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): string {
    return this.#alternatives("");
  }

  /** Until the group's end, to which flags hold, across the bars: so each piece that has others than the group says which. */
  #alternatives(around: Flags): string {
    let now = around;
    let done = "";
    let piece = "";
    let hasItem = false;
    let lastAt = 0;
    const close = () => {
      done += now === around ? piece : `(?${difference(around, now)}:${piece})`;
      piece = "";
    };
    while (this.#at < this.#text.length && this.#text[this.#at] !== ")") {
      const told = this.#match(flags);
      if (told !== undefined && told[3] === ")") {
        // What stands before flags may still be repeated: `a(?i)*`.
        const times = hasItem ? this.#match(repeat)?.[0] : undefined;
        if (times !== undefined) piece = `${piece.slice(0, lastAt)}(?:${piece.slice(lastAt)})${greed(times, now)}`;
        close();
        now = changed(now, told);
      } else if (told !== undefined) {
        const inside = changed(now, told);
        lastAt = piece.length;
        piece += this.#group(`?${difference(now, inside)}:`, inside);
        hasItem = true;
      } else if (this.#take("|")) {
        close();
        done += "|";
        hasItem = false;
      } else {
        const times = this.#match(repeat)?.[0];
        if (times === undefined) lastAt = piece.length;
        piece += times === undefined ? this.#item(now) : greed(times, now);
        hasItem = true;
      }
    }
    close();
    return done;
  }

  #group(opener: string, inside: Flags): string {
    const text = this.#alternatives(inside);
    this.#at += 1; // its closing bracket
    return `(${opener}${text})`;
  }

  #item(now: Flags): string {
    if (this.#take("\\Q")) return this.#quoted();
    if (this.#match(opening) !== undefined) return this.#group("?:", now);
    if (this.#take("[")) return this.#class();
    for (const [go, here] of places) if (this.#take(go)) return here;
    return this.#kind() ?? this.#character();
  }

  #quoted(): string {
    const end = this.#text.indexOf("\\E", this.#at);
    const inside = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 2;
    // As one item: what follows may repeat its last character only, and is written beside it.
    return [...inside].map(escaped).join("");
  }

  #class(): string {
    const isOutside = this.#take("^");
    const inside: string[] = [];
    for (let isFirst = true; isFirst || this.#text[this.#at] !== "]"; isFirst = false) {
      const [, not, name = ""] = this.#match(named) ?? [];
      if (not !== undefined) inside.push(`[${not}${posix[name] ?? ""}]`);
      else inside.push(this.#kind() ?? this.#range());
    }
    this.#at += 1;
    return `[${isOutside ? "^" : ""}${inside.join("")}]`;
  }

  #range(): string {
    const low = this.#character();
    const isRange = this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]";
    if (!isRange) return low;
    this.#at += 1;
    return `${low}-${this.#character()}`;
  }

  /** \d and its like, and Unicode's; undefined: it is none. */
  #kind(): string | undefined {
    const [, letter, not, name, short] = this.#match(unicode) ?? [];
    if (letter !== undefined) {
      const isOutside = (letter === "P") !== (not === "^");
      return `\\${isOutside ? "P" : "p"}{${unicodeName(short ?? name ?? "")}}`;
    }
    return kinds.find((kind) => this.#take(kind));
  }

  #character(): string {
    const [whole = "", hex, long, octal, sign] = this.#match(character) ?? [];
    const code = hex ?? long;
    if (code !== undefined) return escaped(String.fromCodePoint(Number.parseInt(code, 16)));
    if (octal !== undefined) return escaped(String.fromCodePoint(Number.parseInt(octal, 8)));
    if (sign === undefined) return escaped(whole);
    return /[fnrtv]/.test(sign) ? whole : escaped(sign === "a" ? "\x07" : sign);
  }

  #take(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at; // sticky
    const found = pattern.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at += found[0].length;
    return found;
  }
}

/** For itself, in and outside of a class. */
function escaped(text: string): string {
  return /^[0-9A-Za-z_]$/.test(text) ? text : `\\u{${text.codePointAt(0)?.toString(16) ?? ""}}`;
}

function changed(now: Flags, [, on = "", off = ""]: RegExpExecArray): Flags {
  return ["i", "m", "s", "U"]
    .filter((flag) => (now.includes(flag) || on.includes(flag)) && !off.includes(flag))
    .join("");
}

/** As JavaScript writes it, which has no U: that turns around what is greedy. */
function difference(before: Flags, after: Flags): string {
  const those = (of: Flags, without: Flags) =>
    [...of].filter((flag) => flag !== "U" && !without.includes(flag)).join("");
  const off = those(before, after);
  return `${those(after, before)}${off === "" ? "" : `-${off}`}`;
}

function greed(times: string, now: Flags): string {
  if (!now.includes("U")) return times;
  return times.length > 1 && times.endsWith("?") ? times.slice(0, -1) : `${times}?`;
}

/** Go has the names of Unicode's categories in any case and with blanks, and those of scripts beside them. */
function unicodeName(text: string): string {
  const plain = text.replaceAll(/[ _-]/g, "").toLowerCase();
  const capital = plain.slice(0, 1).toUpperCase() + plain.slice(1);
  const names = [capital, plain === "any" ? "Any" : plain === "ascii" ? "ASCII" : capital, `Script=${capital}`];
  const long = text
    .replaceAll(/[ -]/g, "_")
    .split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase())
    .join("_");
  for (const name of [...names, long]) {
    try {
      new RegExp(`\\p{${name}}`, "u");
      return name;
    } catch {
      // no name of JavaScript's: the next one
    }
  }
  return "Any";
}

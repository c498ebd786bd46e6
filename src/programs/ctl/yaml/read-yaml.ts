// Reads YAML as the original does (sigs.k8s.io/yaml over go-yaml 2): plain scalars as YAML 1.1 has them, keys that are
// numbers or truths as text, merge keys, no key twice. The package reads the structure; what scalars mean is decided here.
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from "yaml";
import { readPlainScalar } from "../../../base/yaml/index.ts";
import { scalarAsText } from "./scalar-text.ts";

/** Not YAML; the line counts from 1 within the text. */
export class YamlError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.name = "YamlError";
    this.line = line;
  }
}

/** Aliases can make a small text a large value. */
const mostNodes = 1_000_000;
const deepest = 200;
const controlCharacters = /[^\t\n\r\x20-\x7e\u0085\u00a0-\ufffd]/;

/** JSON, with bigint for whole numbers beyond 2^53; undefined members do not occur. Throws YamlError. */
export function readYaml(text: string): unknown {
  const { contents, lines } = parse(text);
  return new Reading(text, lines).value(contents, 0);
}

/** The line, from 1, of the member that a path such as spec.nets[0] names, or of the last part of it that is there. */
export function lineOfField(text: string, field: string): number {
  try {
    const { contents, lines } = parse(text);
    let line = 1;
    for (let [at, rest]: [Found | undefined, string] = [{ node: contents, start: startOf(contents) }, field]; at; ) {
      line = lines.linePos(at.start).line;
      const next: readonly [Found, string] | undefined = rest === "" ? undefined : step(at.node, rest);
      [at, rest] = next ?? [undefined, ""];
    }
    return line;
  } catch (error) {
    if (error instanceof YamlError) return error.line;
    throw error;
  }
}

function parse(text: string): { contents: Node | null; lines: LineCounter } {
  const control = text.search(controlCharacters);
  if (control >= 0) throw new YamlError(lineAt(text, control), "control characters are not allowed");
  const lines = new LineCounter();
  const document = parseWith(text, lines);
  const [problem] = document.errors;
  if (problem !== undefined) {
    const what = problem.message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "";
    // The package says so itself where the stack ends while it puts a document together.
    const isTooDeep = what.startsWith("Maximum call stack");
    throw new YamlError(lines.linePos(problem.pos[0]).line, isTooDeep ? "nested too deep" : what);
  }
  return { contents: document.contents, lines };
}

function parseWith(text: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, {
      lineCounter,
      schema: "failsafe",
      uniqueKeys: false,
      strict: false,
      prettyErrors: false,
      logLevel: "silent",
    });
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError(1, "nested too deep"); // the stack has an end
    throw error;
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** One walk over a document; bounded, whatever its aliases are. */
class Reading {
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  #nodes = 0;

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  value(node: unknown, depth: number): unknown {
    this.#nodes += 1;
    if (this.#nodes > mostNodes) throw this.#error(node, "document contains excessive aliasing");
    if (depth > deepest) throw this.#error(node, `nested more than ${deepest} deep`);
    if (isAlias(node)) return this.value(this.#target(node), depth + 1);
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) {
      this.#anchors.set(node.anchor, node);
    }
    if (isScalar(node)) return this.#scalar(node);
    if (isSeq(node)) return node.items.map((item) => this.value(item, depth + 1));
    if (!isMap(node)) return null;
    const map: { [name: string]: unknown } = {};
    for (const pair of node.items) this.#add(map, pair, depth);
    return map;
  }

  #add(map: { [name: string]: unknown }, { key, value }: Pair, depth: number): void {
    if (isMergeKey(key)) {
      const target = isAlias(value) ? this.#target(value) : value;
      for (const one of isSeq(target) ? target.items : [target]) {
        const merged = this.value(one, depth + 1);
        if (merged === null || typeof merged !== "object" || Array.isArray(merged)) {
          throw this.#error(key, "map merge requires map or sequence of maps as the value");
        }
        for (const [name, member] of Object.entries(merged)) this.#set(map, { name, member, key });
      }
      return;
    }
    this.#set(map, { name: this.#name(key, depth), member: this.value(value, depth + 1), key });
  }

  #set(map: { [name: string]: unknown }, { name, member, key }: { name: string; member: unknown; key: unknown }): void {
    if (Object.hasOwn(map, name)) throw this.#error(key, `key ${JSON.stringify(name)} already set in map`);
    // A member named __proto__ is one as any other.
    Object.defineProperty(map, name, { value: member, enumerable: true, writable: true, configurable: true });
  }

  #name(key: unknown, depth: number): string {
    const name = this.value(key, depth + 1);
    if (name === null || typeof name === "object")
      throw this.#error(key, "a key must be text, a number or a truth value");
    return scalarAsText(name as string | number | bigint | boolean); // null and objects are gone
  }

  #scalar(scalar: Scalar): unknown {
    const { value, type, tag, source } = scalar;
    const text = this.#isUnended(scalar) ? String(value).slice(0, -1) : String(value ?? "");
    switch (tag) {
      case undefined:
      case "":
        return type === "PLAIN" || type === undefined || type === null ? readPlainScalar(text) : text;
      case "tag:yaml.org,2002:int":
      case "tag:yaml.org,2002:float":
      case "tag:yaml.org,2002:bool":
      case "tag:yaml.org,2002:null":
        return readPlainScalar(source ?? text);
      case "tag:yaml.org,2002:binary":
        return atob(text.replaceAll(/\s/g, ""));
      default:
        return text;
    }
  }

  /** The original adds no new line to the last of several lines: documents that a separator ends have none there. */
  #isUnended({ value, type, range }: Scalar): boolean {
    const isLines = type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED";
    const isLast = (range?.[1] ?? 0) >= this.#text.length && !this.#text.endsWith("\n");
    return isLines && isLast && String(value).endsWith("\n");
  }

  #target(alias: Alias): Node {
    const node = this.#anchors.get(alias.source);
    if (node === undefined) throw this.#error(alias, `unknown anchor '${alias.source}' referenced`);
    return node;
  }

  #error(node: unknown, message: string): YamlError {
    return new YamlError(this.#lines.linePos(startOf(node)).line, message);
  }
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === "<<" && (key.type === "PLAIN" || key.tag === "tag:yaml.org,2002:merge");
}

type Found = { readonly node: unknown; readonly start: number };

/** The member that the path begins with, and the rest of the path. Names may have dots in them: the longest that fits wins. */
function step(node: unknown, path: string): readonly [Found, string] | undefined {
  const index = /^\.?\[(\d+)\]/.exec(path);
  if (index !== null && isSeq(node)) {
    const item = node.items[Number(index[1])];
    return item === undefined ? undefined : [{ node: item, start: startOf(item) }, path.slice(index[0].length)];
  }
  if (!isMap(node)) return undefined;
  const rest = path.replace(/^\./, "");
  const pairs = node.items
    .map((pair) => ({ pair, name: isScalar(pair.key) ? String(pair.key.value) : "" }))
    .filter(({ name }) => rest.startsWith(name) && /^(?:[.[]|$)/.test(rest.slice(name.length)) && name !== "")
    .sort((a, b) => b.name.length - a.name.length);
  const [best] = pairs;
  if (best === undefined) return undefined;
  return [{ node: best.pair.value, start: startOf(best.pair.key) }, rest.slice(best.name.length)];
}

function startOf(node: unknown): number {
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : undefined;
  return Array.isArray(range) && typeof range[0] === "number" ? range[0] : 0;
}

// Calico's selector language: parse, print in normal form, prefix label names, evaluate. Policies carry selectors as
// text; only namespace and service-account selectors are printed again, which is why the normal form is the original's.
import { compareUtf8 } from "../go/go-json.ts";
import { type Token, tokenizeSelector } from "./selector-tokens.ts";

export type Selector =
  | { readonly is: "all" | "global" }
  | { readonly is: "has"; readonly label: string }
  | {
      readonly is: "==" | "!=" | "contains" | "starts with" | "ends with";
      readonly label: string;
      readonly value: string;
    }
  | { readonly is: "in" | "not in"; readonly label: string; readonly values: readonly string[] }
  | { readonly is: "not"; readonly operand: Selector }
  | { readonly is: "and" | "or"; readonly operands: readonly Selector[] };

type ParsedSelector =
  | { readonly is: "selector"; readonly selector: Selector }
  | { readonly is: "error"; readonly why: string };

/** Deeper than any person writes, shallow enough for every stack. */
const maxDepth = 500;

export function parseSelector(text: string): ParsedSelector {
  const scanned = tokenizeSelector(text);
  if (scanned.is === "error") return scanned;
  const reader: Reader = { tokens: scanned.tokens, at: 0 };
  if (current(reader).is === "end") return { is: "selector", selector: { is: "all" } };
  const parsed = parseOr(reader, 0);
  if (typeof parsed === "string") return { is: "error", why: parsed };
  const rest = current(reader);
  if (rest.is !== "end") return { is: "error", why: `unexpected ${describe(rest)} after the end of the selector` };
  return { is: "selector", selector: parsed };
}

/** Undefined: the selector is fine (an empty one is). Else what is wrong with it. */
export function selectorProblem(text: string): string | undefined {
  const parsed = parseSelector(text);
  return parsed.is === "error" ? parsed.why : undefined;
}

export function printSelector(selector: Selector): string {
  switch (selector.is) {
    case "all":
    case "global":
      return `${selector.is}()`;
    case "has":
      return `has(${selector.label})`;
    case "in":
    case "not in":
      return `${selector.label} ${selector.is} {${selector.values.map(quote).join(", ")}}`;
    case "not":
      return `!${printSelector(selector.operand)}`;
    case "and":
      return `(${selector.operands.map(printSelector).join(" && ")})`;
    case "or":
      return `(${selector.operands.map(printSelector).join(" || ")})`;
    default:
      return `${selector.label} ${selector.is} ${quote(selector.value)}`;
  }
}

/** The same selector about labels whose names start with the prefix. */
export function prefixSelector(selector: Selector, prefix: string): Selector {
  switch (selector.is) {
    case "all":
    case "global":
      return selector;
    case "not":
      return { is: "not", operand: prefixSelector(selector.operand, prefix) };
    case "and":
    case "or":
      return { is: selector.is, operands: selector.operands.map((operand) => prefixSelector(operand, prefix)) };
    default:
      return { ...selector, label: prefix + selector.label };
  }
}

export type Labels = { readonly [name: string]: string };

export function evaluateSelector(selector: Selector, labels: Labels): boolean {
  switch (selector.is) {
    case "all":
    case "global":
      return true;
    case "not":
      return !evaluateSelector(selector.operand, labels);
    case "and":
      return selector.operands.every((operand) => evaluateSelector(operand, labels));
    case "or":
      return selector.operands.some((operand) => evaluateSelector(operand, labels));
  }
  const value = Object.hasOwn(labels, selector.label) ? labels[selector.label] : undefined;
  switch (selector.is) {
    case "has":
      return value !== undefined;
    case "==":
      return value === selector.value;
    case "!=":
      return value !== selector.value;
    case "contains":
      return value?.includes(selector.value) ?? false;
    case "starts with":
      return value?.startsWith(selector.value) ?? false;
    case "ends with":
      return value?.endsWith(selector.value) ?? false;
    case "in":
      return value !== undefined && selector.values.includes(value);
    case "not in":
      return value === undefined || !selector.values.includes(value);
  }
}

function quote(value: string): string {
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}

type Reader = { readonly tokens: readonly Token[]; at: number };
const end: Token = { is: "end" };

function current(reader: Reader): Token {
  return reader.tokens[reader.at] ?? end;
}

function take(reader: Reader): Token {
  const token = current(reader);
  reader.at++;
  return token;
}

// A parser's answer is the selector, or in words what is wrong.
type Parsed = Selector | string;

function parseOr(reader: Reader, depth: number): Parsed {
  return parseList(reader, { depth, separator: "||", is: "or", parseOperand: parseAnd });
}

function parseAnd(reader: Reader, depth: number): Parsed {
  return parseList(reader, { depth, separator: "&&", is: "and", parseOperand: parseOperation });
}

type List = {
  depth: number;
  separator: "&&" | "||";
  is: "and" | "or";
  parseOperand(reader: Reader, depth: number): Parsed;
};

function parseList(reader: Reader, { depth, separator, is, parseOperand }: List): Parsed {
  const first = parseOperand(reader, depth);
  if (typeof first === "string" || current(reader).is !== separator) return first;
  const operands = [first];
  while (current(reader).is === separator) {
    reader.at++;
    const operand = parseOperand(reader, depth);
    if (typeof operand === "string") return operand;
    operands.push(operand);
  }
  return { is, operands };
}

function parseOperation(reader: Reader, depth: number): Parsed {
  let isNegated = false;
  while (current(reader).is === "!") {
    isNegated = !isNegated;
    reader.at++;
  }
  const operand = parsePositive(reader, depth);
  return isNegated && typeof operand !== "string" ? { is: "not", operand } : operand;
}

function parsePositive(reader: Reader, depth: number): Parsed {
  const token = take(reader);
  switch (token.is) {
    case "has":
      return { is: "has", label: token.text };
    case "all":
    case "global":
      return { is: token.is };
    case "label":
      return parseComparison(reader, token.text);
    case "(": {
      if (depth >= maxDepth) return `more than ${maxDepth} nested parentheses`;
      const inner = parseOr(reader, depth + 1);
      if (typeof inner === "string") return inner;
      const closing = take(reader);
      return closing.is === ")" ? inner : `expected ) instead of ${describe(closing)}`;
    }
    default:
      return `expected a label, a function or ( instead of ${describe(token)}`;
  }
}

function parseComparison(reader: Reader, label: string): Parsed {
  const operator = take(reader);
  switch (operator.is) {
    case "==":
    case "!=":
    case "contains":
    case "starts with":
    case "ends with": {
      const value = take(reader);
      if (value.is !== "string") return `expected a string after ${label} ${operator.is}`;
      return { is: operator.is, label, value: value.text };
    }
    case "in":
    case "not in":
      return parseSet(reader, label, operator.is);
    default:
      return `expected an operator after ${label} instead of ${describe(operator)}`;
  }
}

/** Values in braces: none, some, or some with a comma too many at the end. Kept sorted and each once. */
function parseSet(reader: Reader, label: string, is: "in" | "not in"): Parsed {
  if (take(reader).is !== "{") return `expected { after ${label} ${is}`;
  const values = new Set<string>();
  for (let token = current(reader); token.is === "string"; token = current(reader)) {
    values.add(token.text);
    reader.at++;
    if (current(reader).is !== ",") break;
    reader.at++;
  }
  const closing = take(reader);
  if (closing.is !== "}") return `expected } instead of ${describe(closing)}`;
  return { is, label, values: [...values].sort(compareUtf8) };
}

function describe(token: Token): string {
  return "text" in token ? `${token.is} ${JSON.stringify(token.text.slice(0, 80))}` : JSON.stringify(token.is);
}

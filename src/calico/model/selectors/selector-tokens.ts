// Calico's selector language as tokens, by the original's rules: blanks are space and tab, strings have no escapes, a
// function's parenthesis follows its name at once, and operators that are words count only right after a label.

export type Token =
  | { readonly is: "label" | "string" | "has"; readonly text: string }
  | { readonly is: "==" | "!=" | "contains" | "starts with" | "ends with" | "in" | "not in" }
  | { readonly is: "&&" | "||" | "!" | "(" | ")" | "{" | "}" | "," | "all" | "global" | "end" };

type Tokens = { readonly is: "tokens"; readonly tokens: readonly Token[] } | TokenError;
type TokenError = { readonly is: "error"; readonly why: string };

const maxLabelBytes = 512; // labels are ASCII, so bytes are characters
// Sticky patterns keep the scan linear: nothing is ever cut off the front of the text.
const blanks = /[ \t]*/y;
const identifier = /[a-zA-Z0-9_./-]+/y;
const operator = /(?:(contains)|(starts[ \t]*with)|(ends[ \t]*with)|(not[ \t]*in)|(in))[ \t]*/y;
const hasCall = /has\([ \t]*/y;
const constantCall = /(all|global)\(/y;
const closing = /[ \t]*\)/y;
const operators = [undefined, "contains", "starts with", "ends with", "not in", "in"] as const;
const doubles = { "=": "==", "&": "&&", "|": "||" } as const;

export function tokenizeSelector(text: string): Tokens {
  const tokens: Token[] = [];
  let at = skip(blanks, text, 0);
  let previous: Token["is"] | undefined;
  while (at < text.length) {
    const next =
      previous === "label" ? (symbol(text, at) ?? wordOperator(text, at)) : (symbol(text, at) ?? word(text, at));
    if ("why" in next) return { is: "error", why: next.why };
    tokens.push(next.token);
    previous = next.token.is;
    at = skip(blanks, text, next.end);
  }
  tokens.push({ is: "end" });
  return { is: "tokens", tokens };
}

type Next = { readonly token: Token; readonly end: number } | { readonly why: string };

function symbol(text: string, at: number): Next | undefined {
  const character = text.charAt(at);
  switch (character) {
    case "(":
    case ")":
    case "{":
    case "}":
    case ",":
      return { token: { is: character }, end: at + 1 };
    case '"':
    case "'": {
      const end = text.indexOf(character, at + 1);
      if (end < 0) return { why: `string that starts at character ${at + 1} has no end` };
      return { token: { is: "string", text: text.slice(at + 1, end) }, end: end + 1 };
    }
    case "!":
      if (text.charAt(at + 1) === "=") return { token: { is: "!=" }, end: at + 2 };
      return { token: { is: "!" }, end: at + 1 };
    case "=":
    case "&":
    case "|":
      if (text.charAt(at + 1) === character) return { token: { is: doubles[character] }, end: at + 2 };
      return { why: `expected ${doubles[character]} at character ${at + 1}` };
    default:
      return undefined;
  }
}

/** What may follow a label besides symbols. The word must end where an identifier would. */
function wordOperator(text: string, at: number): Next {
  operator.lastIndex = at;
  const match = operator.exec(text);
  if (match !== null) {
    const found = operators.find((_, group) => group > 0 && match[group] !== undefined);
    // One-word operators must be followed by a boundary themselves; the others after their trailing blanks.
    const isOneWord = found === "contains" || found === "in";
    const boundary = isOneWord ? at + (found?.length ?? 0) : operator.lastIndex;
    if (found !== undefined && !isIdentifierAt(text, boundary)) return { token: { is: found }, end: boundary };
  }
  return { why: `expected an operator at character ${at + 1}` };
}

function word(text: string, at: number): Next {
  const afterHas = skip(hasCall, text, at);
  if (afterHas > at) {
    const end = skip(identifier, text, afterHas);
    const label = text.slice(afterHas, end);
    if (label.length === 0 || label.length > maxLabelBytes) return { why: labelProblem(afterHas, label) };
    const closed = skip(closing, text, end);
    return closed > end ? { token: { is: "has", text: label }, end: closed } : { why: "has( is not closed" };
  }
  constantCall.lastIndex = at;
  const call = constantCall.exec(text);
  if (call !== null) {
    const name = call[1] === "all" ? "all" : "global";
    const closed = skip(closing, text, constantCall.lastIndex);
    return closed > constantCall.lastIndex ? { token: { is: name }, end: closed } : { why: `${name}( is not closed` };
  }
  const end = skip(identifier, text, at);
  const label = text.slice(at, end);
  if (label.length === 0 || label.length > maxLabelBytes) return { why: labelProblem(at, label) };
  return { token: { is: "label", text: label }, end };
}

function labelProblem(at: number, label: string): string {
  return label === "" ? `expected a label at character ${at + 1}` : `label at character ${at + 1} is too long`;
}

/** Where the pattern ends when it matches here, else here. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function isIdentifierAt(text: string, at: number): boolean {
  return skip(identifier, text, at) > at;
}

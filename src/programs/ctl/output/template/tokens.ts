// Cuts a Go template into texts and actions, and an action into its words.
import { CtlError } from "../../console.ts";

export type Token = {
  readonly is: "text" | "word" | "field" | "variable" | "literal" | "sign";
  /** The name of a field without its dot; of a variable with its dollar. */
  readonly text: string;
  /** Of a literal. */
  readonly value?: string | number | bigint;
  /** Nothing stands between it and what is before it: .Spec in (index . 0).Spec. */
  readonly isJoined: boolean;
};

export type Piece =
  | { readonly is: "text"; readonly text: string; readonly line: number }
  | { readonly is: "action"; readonly tokens: readonly Token[]; readonly source: string; readonly line: number };

/** As the original words it; the name of its template is always "get". */
export function templateError(line: number, problem: string): CtlError {
  return new CtlError(`template: get:${line}: ${problem}`);
}

const comment = /^\/\*[\s\S]*?\*\/$/;

export function splitTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimsNext = false;
  const addText = (end: number, trimsEnd: boolean) => {
    let text = template.slice(at, end);
    if (trimsNext) text = text.replace(/^[ \t\r\n]+/, "");
    if (trimsEnd) text = text.replace(/[ \t\r\n]+$/, "");
    if (text !== "") pieces.push({ is: "text", text, line: lineAt(template, at) });
  };
  for (;;) {
    const open = template.indexOf("{{", at);
    if (open < 0) break;
    const line = lineAt(template, open);
    const trimsEnd = /^\{\{-[ \t\r\n]/.test(template.slice(open, open + 4));
    addText(open, trimsEnd);
    const start = open + (trimsEnd ? 3 : 2);
    const close = endOfAction(template, start, line);
    let inside = template.slice(start, close);
    trimsNext = /[ \t\r\n]-$/.test(inside);
    if (trimsNext) inside = inside.slice(0, -1);
    if (!comment.test(inside.trim())) {
      pieces.push({ is: "action", tokens: readTokens(inside, line), source: inside.trim(), line });
    }
    at = close + 2;
  }
  addText(template.length, false);
  return pieces;
}

/** The closing braces are not those inside a text or a comment. */
function endOfAction(template: string, start: number, line: number): number {
  const skipped = /\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'|\}\}/g;
  skipped.lastIndex = start;
  for (let match = skipped.exec(template); match !== null; match = skipped.exec(template)) {
    if (match[0] === "}}") return match.index;
  }
  throw templateError(line, "unclosed action");
}

const tokenPattern =
  /(\s+)|("(?:[^"\\\n]|\\.)*")|(`[^`]*`)|('(?:[^'\\\n]|\\.)+')|([-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+))|(\$\w*)|\.([\p{L}_][\p{L}\p{N}_]*)|([\p{L}_][\p{L}\p{N}_]*)|(:=|[.=|(),])/uy;

function readTokens(text: string, line: number): readonly Token[] {
  const tokens: Token[] = [];
  let isJoined = false;
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (match === null) throw templateError(line, `unexpected ${JSON.stringify(text[at])} in action`);
    const [, space, quoted, raw, character, number, variable, field, word, sign] = match;
    if (space !== undefined) {
      isJoined = false;
      continue;
    }
    if (quoted !== undefined) tokens.push({ is: "literal", text: quoted, value: unquoted(quoted, line), isJoined });
    else if (raw !== undefined) tokens.push({ is: "literal", text: raw, value: raw.slice(1, -1), isJoined });
    else if (character !== undefined) {
      tokens.push({ is: "literal", text: character, value: unquoted(character, line).codePointAt(0) ?? 0, isJoined });
    } else if (number !== undefined) {
      tokens.push({
        is: "literal",
        text: number,
        value: Number(number.replaceAll("_", "").replace(/^\+/, "")),
        isJoined,
      });
    } else if (variable !== undefined) tokens.push({ is: "variable", text: variable, isJoined });
    else if (field !== undefined) tokens.push({ is: "field", text: field, isJoined });
    else if (word !== undefined) tokens.push({ is: "word", text: word, isJoined });
    else tokens.push({ is: "sign", text: sign ?? "", isJoined });
    isJoined = true;
  }
  return tokens;
}

const escapes: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unquoted(quoted: string, line: number): string {
  return quoted
    .slice(1, -1)
    .replaceAll(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (...match) => {
      const [whole, short, four, eight, letter] = match as string[];
      const hex = short ?? four ?? eight;
      if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
      const known = escapes[letter ?? ""] ?? (/["'\\]/.test(letter ?? "") ? letter : undefined);
      if (known === undefined) throw templateError(line, `${whole} is not supported in a text`);
      return known;
    });
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

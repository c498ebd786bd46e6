// A Go template as a tree: the part of the language that people use to print objects.
import { functionNames } from "./functions.ts";
import { type Piece, splitTemplate, type Token, templateError } from "./tokens.ts";

export type Operand =
  | { readonly is: "dot" | "nil" }
  | { readonly is: "variable"; readonly name: string }
  | { readonly is: "literal"; readonly value: string | number | bigint | boolean }
  | { readonly is: "function"; readonly name: string }
  | { readonly is: "field"; readonly of: Operand; readonly name: string }
  | { readonly is: "pipe"; readonly pipe: Pipe };

export type Pipe = {
  readonly variables: readonly string[];
  /** `=` changes a variable, `:=` makes one. */
  readonly isAssignment: boolean;
  /** Each gets the value of the one before as its last argument. */
  readonly commands: readonly (readonly Operand[])[];
};

export type Branch = { readonly pipe: Pipe; readonly body: readonly Step[] };

export type Step =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "print"; readonly pipe: Pipe; readonly source: string; readonly line: number }
  | {
      readonly is: "if" | "with" | "range";
      readonly branches: readonly Branch[];
      readonly otherwise: readonly Step[];
      readonly source: string;
      readonly line: number;
    }
  | { readonly is: "break" | "continue" };

const unsupportedActions = ["define", "template", "block"];
const deepest = 100;

export function parseTemplate(template: string): readonly Step[] {
  const parser = new Parser(splitTemplate(template));
  const steps = parser.body(0);
  const rest = parser.end();
  if (rest !== undefined) throw templateError(rest.line, `unexpected {{${rest.source}}}`);
  return steps;
}

type Action = Extract<Piece, { is: "action" }>;

class Parser {
  readonly #pieces: readonly Piece[];
  #at = 0;
  #loops = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  /** Up to `else`, `end`, or the end of the text. */
  body(depth: number): readonly Step[] {
    const steps: Step[] = [];
    for (let piece = this.#pieces[this.#at]; piece !== undefined; piece = this.#pieces[this.#at]) {
      if (piece.is === "text") steps.push({ is: "text", text: piece.text });
      else {
        if (isWord(piece.tokens[0], "else", "end")) break;
        this.#at += 1;
        const step = this.#action(piece, depth);
        if (step !== undefined) steps.push(step);
        continue;
      }
      this.#at += 1;
    }
    return steps;
  }

  end(): Action | undefined {
    const piece = this.#pieces[this.#at];
    return piece?.is === "action" ? piece : undefined;
  }

  #action(piece: Action, depth: number): Step | undefined {
    const { tokens, source, line } = piece;
    const [first] = tokens;
    if (depth > deepest) throw templateError(line, `actions are nested more than ${deepest} deep`);
    if (first === undefined) throw templateError(line, "missing value for command");
    if (first.is === "word") {
      const { text } = first;
      if (text === "if" || text === "with" || text === "range") return this.#block(text, piece, depth);
      if (text === "break" || text === "continue") {
        if (this.#loops === 0) throw templateError(line, `{{${text}}} outside {{range}}`);
        return { is: text };
      }
      if (unsupportedActions.includes(text)) {
        throw templateError(line, `{{${text}}} is not supported here; supported are if, with, range and printing`);
      }
    }
    const pipe = new PipeReader(tokens, line).whole();
    return { is: "print", pipe, source, line };
  }

  #block(is: "if" | "with" | "range", opening: Action, depth: number): Step {
    const { source, line } = opening;
    const branches: Branch[] = [];
    let tokens = opening.tokens.slice(1);
    if (is === "range") this.#loops += 1;
    for (;;) {
      const pipe = new PipeReader(tokens, line).whole(is === "range");
      branches.push({ pipe, body: this.body(depth + 1) });
      const next = this.#next(opening);
      if (isWord(next.tokens[0], "end")) return this.#closed({ is, branches, otherwise: [], source, line });
      const [, again] = next.tokens;
      if (again === undefined) break;
      if (is === "range" || !isWord(again, is)) throw templateError(next.line, `unexpected {{${next.source}}}`);
      tokens = next.tokens.slice(2);
    }
    const otherwise = this.body(depth + 1);
    const last = this.#next(opening);
    if (!isWord(last.tokens[0], "end")) throw templateError(last.line, `expected end; found {{${last.source}}}`);
    return this.#closed({ is, branches, otherwise, source, line });
  }

  #closed(step: Extract<Step, { is: "if" | "with" | "range" }>): Step {
    if (step.is === "range") this.#loops -= 1;
    return step;
  }

  #next({ source }: Action): Action {
    const piece = this.#pieces[this.#at];
    this.#at += 1;
    if (piece?.is === "action") return piece;
    const lines = this.#pieces.at(-1)?.line ?? 1;
    throw templateError(lines, `unexpected EOF: {{${source}}} has no {{end}}`);
  }
}

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.is === "word" && words.includes(token.text);
}

const constants: { readonly [word: string]: Operand } = {
  true: { is: "literal", value: true },
  false: { is: "literal", value: false },
  nil: { is: "nil" },
};

class PipeReader {
  readonly #tokens: readonly Token[];
  readonly #line: number;
  #at = 0;

  constructor(tokens: readonly Token[], line: number) {
    this.#tokens = tokens;
    this.#line = line;
  }

  whole(isRange = false): Pipe {
    const pipe = this.#pipe(isRange, 0);
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw templateError(this.#line, `unexpected ${JSON.stringify(rest.text)} in command`);
    return pipe;
  }

  #pipe(isRange: boolean, depth: number): Pipe {
    if (depth > deepest) throw templateError(this.#line, `parentheses are nested more than ${deepest} deep`);
    const { variables, isAssignment } = this.#declaration(isRange);
    const commands = [this.#command(depth)];
    while (this.#isSign("|")) {
      this.#at += 1;
      commands.push(this.#command(depth));
    }
    return { variables, isAssignment, commands };
  }

  /** `$x :=`, `$x =`, and in range `$i, $v :=`. */
  #declaration(isRange: boolean): { variables: readonly string[]; isAssignment: boolean } {
    const none = { variables: [], isAssignment: false };
    const [first, second, third, fourth] = this.#tokens.slice(this.#at, this.#at + 4);
    if (first?.is !== "variable" || second?.is !== "sign") return none;
    if (second.text === ":=" || second.text === "=") {
      this.#at += 2;
      return { variables: [first.text], isAssignment: second.text === "=" };
    }
    if (second.text !== "," || third?.is !== "variable" || !/^:?=$/.test(fourth?.text ?? "")) return none;
    if (!isRange) throw templateError(this.#line, "too many declarations in command");
    this.#at += 4;
    return { variables: [first.text, third.text], isAssignment: fourth?.text === "=" };
  }

  #command(depth: number): readonly Operand[] {
    const operands: Operand[] = [];
    for (let operand = this.#operand(depth); operand !== undefined; operand = this.#operand(depth)) {
      operands.push(operand);
    }
    if (operands.length === 0) throw templateError(this.#line, "missing value for command");
    return operands;
  }

  #operand(depth: number): Operand | undefined {
    let operand = this.#term(depth);
    if (operand === undefined) return undefined;
    for (;;) {
      const next = this.#tokens[this.#at];
      if (next?.is !== "field" || !next.isJoined) return operand;
      operand = { is: "field", of: operand, name: next.text };
      this.#at += 1;
    }
  }

  #term(depth: number): Operand | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || (token.is === "sign" && token.text !== "(" && token.text !== ".")) return undefined;
    this.#at += 1;
    switch (token.is) {
      case "literal":
        return { is: "literal", value: token.value ?? "" };
      case "variable":
        return { is: "variable", name: token.text };
      case "field":
        return { is: "field", of: { is: "dot" }, name: token.text };
      case "word":
        return constants[token.text] ?? this.#function(token.text);
      default:
        return token.text === "." ? { is: "dot" } : this.#parenthesis(depth);
    }
  }

  #function(name: string): Operand {
    if (functionNames.includes(name)) return { is: "function", name };
    const supported = functionNames.join(", ");
    throw templateError(this.#line, `function "${name}" not defined; supported are ${supported}`);
  }

  #parenthesis(depth: number): Operand {
    const pipe = this.#pipe(false, depth + 1);
    if (!this.#isSign(")")) throw templateError(this.#line, "unclosed left paren");
    this.#at += 1;
    return { is: "pipe", pipe };
  }

  #isSign(text: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.is === "sign" && token.text === text;
  }
}

// Evaluates the rules that our CRDs give to the API server, where there is no API server: with etcd, with a folder, and when
// a file is checked without any datastore. Of the expression language (CEL) it knows what our rules use: members, has(),
// size(), comparisons, logic, ?:, exists(), contains(), startsWith(), and Kubernetes' functions for addresses.
import { type Cidr, cidrToText, isMasked, mask, parseCidr, parseIp } from "../../../base/lib/index.ts";

type Scope = { readonly [name: string]: unknown };
type Expression = (scope: Scope) => unknown;

/** A rule that cannot be evaluated is a broken rule, as it is for the API server. */
class EvaluationError extends Error {}

const token = /\s*(?:(\d+(?:\.\d+)?)|'((?:[^'\\]|\\.)*)'|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[!<>?:().,]))/y;

type Token = { readonly is: "number" | "text" | "name" | "sign" | "end"; readonly text: string };

function tokens(rule: string): Token[] {
  const found: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < rule.trimEnd().length) {
    const at = token.lastIndex;
    const match = token.exec(rule);
    if (match === null) throw new SyntaxError(`cannot read the rule at "${rule.slice(at, at + 20)}"`);
    const [, number, text, name, sign] = match;
    if (number !== undefined) found.push({ is: "number", text: number });
    else if (text !== undefined) found.push({ is: "text", text });
    else if (name !== undefined) found.push({ is: "name", text: name });
    else found.push({ is: "sign", text: sign ?? "" });
  }
  return [...found, { is: "end", text: "" }];
}

const compiled = new Map<string, Expression>();

/** Undefined: the object keeps the rule. "": it does not; or the member that the rule needs and the object lacks. */
export function whyBroken(rule: string, self: unknown, oldSelf?: unknown): string | undefined {
  let expression = compiled.get(rule);
  if (expression === undefined) {
    expression = new Parser(tokens(rule)).whole();
    compiled.set(rule, expression);
  }
  try {
    return expression({ self, oldSelf }) === true ? undefined : "";
  } catch (error) {
    if (error instanceof EvaluationError)
      return /^(no such key|network address)/.test(error.message) ? error.message : "";
    throw error;
  }
}

/** Each method reads one level of the grammar, the loosest first. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#choice();
    if (this.#peek.is !== "end") throw new SyntaxError(`did not expect "${this.#peek.text}" in a rule`);
    return expression;
  }

  get #peek(): Token {
    return this.#tokens[this.#at] ?? { is: "end", text: "" };
  }

  #takes(sign: string): boolean {
    const isNext = this.#peek.is === "sign" && this.#peek.text === sign;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #needs(sign: string): void {
    if (!this.#takes(sign)) throw new SyntaxError(`expected "${sign}" in a rule, not "${this.#peek.text}"`);
  }

  #choice(): Expression {
    const condition = this.#or();
    if (!this.#takes("?")) return condition;
    const then = this.#choice();
    this.#needs(":");
    const otherwise = this.#choice();
    return (scope) => (condition(scope) === true ? then(scope) : otherwise(scope));
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#takes("||")) left = either(left, this.#and(), true);
    return left;
  }

  #and(): Expression {
    let left = this.#comparison();
    while (this.#takes("&&")) left = either(left, this.#comparison(), false);
    return left;
  }

  #comparison(): Expression {
    const left = this.#negation();
    const sign = this.#peek.text;
    const compare = this.#peek.is === "sign" ? comparisons[sign] : undefined;
    if (compare === undefined) return left;
    this.#at += 1;
    const right = this.#negation();
    return (scope) => compare(left(scope), right(scope));
  }

  #negation(): Expression {
    if (!this.#takes("!")) return this.#member();
    const inner = this.#negation();
    return (scope) => inner(scope) !== true;
  }

  #member(): Expression {
    let value = this.#primary();
    while (this.#takes(".")) {
      const of = value;
      const { text: name } = this.#take("name");
      value = this.#takes("(") ? this.#method(of, name) : (scope) => memberOf(of(scope), name);
    }
    return value;
  }

  #method(of: Expression, name: string): Expression {
    if (name === "exists") {
      const { text: variable } = this.#take("name");
      this.#needs(",");
      const holds = this.#choice();
      this.#needs(")");
      return (scope) => asList(of(scope)).some((element) => holds({ ...scope, [variable]: element }) === true);
    }
    const parameters = this.#parameters();
    const method = methods[name];
    if (method === undefined) throw new SyntaxError(`a rule calls ${name}(), which is not known here`);
    return (scope) => method(of(scope), ...parameters.map((parameter) => parameter(scope)));
  }

  #parameters(): Expression[] {
    const found: Expression[] = [];
    while (!this.#takes(")")) {
      found.push(this.#choice());
      this.#takes(",");
    }
    return found;
  }

  #take(is: Token["is"]): Token {
    const next = this.#peek;
    if (next.is !== is) throw new SyntaxError(`expected a ${is} in a rule, not "${next.text}"`);
    this.#at += 1;
    return next;
  }

  #primary(): Expression {
    if (this.#takes("(")) {
      const inner = this.#choice();
      this.#needs(")");
      return inner;
    }
    const { is, text } = this.#peek;
    this.#at += 1;
    if (is === "number") return () => Number(text);
    if (is === "text") return () => text;
    if (is !== "name") throw new SyntaxError(`did not expect "${text}" in a rule`);
    if (text === "true" || text === "false") return () => text === "true";
    if (!this.#takes("(")) return (scope) => scope[text];
    return this.#call(text);
  }

  #call(name: string): Expression {
    const [parameter = () => undefined] = this.#parameters();
    // A member that is not there is what it asks about, so this error is its answer.
    if (name === "has") return (scope) => isThere(() => parameter(scope));
    const called = functions[name];
    if (called === undefined) throw new SyntaxError(`a rule calls ${name}(), which is not known here`);
    return (scope) => called(parameter(scope));
  }
}

/** One side that decides is enough, whatever is wrong with the other. */
function either(left: Expression, right: Expression, decides: boolean): Expression {
  return (scope) => {
    try {
      if ((left(scope) === true) === decides) return decides;
    } catch (error) {
      if (error instanceof EvaluationError && (right(scope) === true) === decides) return decides;
      throw error;
    }
    return right(scope) === true;
  };
}

function isThere(read: () => unknown): boolean {
  try {
    return read() !== undefined;
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}

function memberOf(value: unknown, name: string): unknown {
  const found =
    typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Object(value)[name] : undefined;
  if (found === undefined) throw new EvaluationError(`no such key: ${name}`);
  return found;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Of texts, truths, networks, and numbers of either kind: nothing else is compared in a rule. */
function isEqual(a: unknown, b: unknown): boolean {
  if (isNetwork(a) && isNetwork(b)) return cidrToText(a) === cidrToText(b);
  return a === b || (isNumber(a) && isNumber(b) && String(a) === String(b));
}

const isNumber = (value: unknown) => typeof value === "number" || typeof value === "bigint";

const comparisons: { readonly [sign: string]: (a: unknown, b: unknown) => boolean } = {
  "==": isEqual,
  "!=": (a, b) => !isEqual(a, b),
  ">=": (a, b) => numberOf(a) >= numberOf(b),
  "<=": (a, b) => numberOf(a) <= numberOf(b),
  ">": (a, b) => numberOf(a) > numberOf(b),
  "<": (a, b) => numberOf(a) < numberOf(b),
};

const functions: { readonly [name: string]: (value: unknown) => unknown } = {
  size: (value) => {
    if (typeof value === "string" || Array.isArray(value)) return value.length;
    return Object.keys(Object(value)).length;
  },
  isIP: (value) => parseIp(textOf(value)) !== undefined,
  ip: (value) => parseIp(textOf(value)) ?? fail("not an IP address"),
  cidr: (value) => networkIn(textOf(value)),
};

/** An API server takes no IPv4 network that is written as IPv6, and its sentence for that is known. */
function networkIn(text: string): Cidr {
  const network = parseCidr(text) ?? fail("not a CIDR");
  if (text.includes(":") && parseIp(text.slice(0, text.indexOf("/")))?.version === 4) {
    const why = `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`;
    fail(`network address parse error during conversion from string: ${why}`);
  }
  return network;
}

function fail(why: string): never {
  throw new EvaluationError(why);
}

/** What is no text is an error, whatever it could be printed as: it may be nested beyond measure. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : fail("not a text");
}

function numberOf(value: unknown): number | bigint {
  return typeof value === "number" || typeof value === "bigint" ? value : fail("not a number");
}

function isNetwork(value: unknown): value is Cidr {
  return typeof value === "object" && value !== null && "prefixLength" in value;
}

function networkOf(value: unknown): Cidr {
  return isNetwork(value) ? value : fail("not a CIDR");
}

const methods: { readonly [name: string]: (value: unknown, parameter?: unknown) => unknown } = {
  contains: (value, part) => textOf(value).includes(textOf(part)),
  startsWith: (value, part) => textOf(value).startsWith(textOf(part)),
  ip: (value) => networkOf(value).ip,
  family: (value) => memberOf(value, "version"),
  prefixLength: (value) => networkOf(value).prefixLength,
  masked: (value) => mask(networkOf(value)),
  containsIP: (value, address) => {
    const ip = typeof address === "string" ? parseIp(address) : Object(address);
    const network = networkOf(value);
    if (ip === undefined || ip.version !== network.ip.version) return false;
    const there = mask({ ip, prefixLength: network.prefixLength });
    const here = isMasked(network) ? network : mask(network);
    return cidrToText(there) === cidrToText(here);
  },
};

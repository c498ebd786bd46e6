// Runs a Go template over what get has found. What is not supported is an error that says so.
import { CtlError } from "../../console.ts";
import type { Result } from "../result.ts";
import { isTrue, type TemplateFunction, templateFunctions } from "./functions.ts";
import { GoMap, GoStruct, noValue, templateData, type Value } from "./go-values.ts";
import { type Operand, type Pipe, parseTemplate, type Step } from "./parse-template.ts";
import { printValue } from "./print-value.ts";

/** Whether the template asks for the AS number of the cluster, which is a request of its own. */
export function asksForConfig(template: string): boolean {
  return /\{\{[^}]*\bconfig\b/.test(template);
}

export function runTemplate(template: string, results: readonly Result[], asNumber: number | undefined): string {
  const steps = parseTemplate(template);
  const data = templateData(results);
  const run = new Run(templateFunctions(asNumber), data);
  run.steps(steps, data);
  return run.text;
}

/** How a list of steps was left. */
type Left = "at the end" | "break" | "continue";

const longestOutput = 256 * 1024 * 1024;

class Run {
  text = "";
  readonly #functions: { readonly [name: string]: TemplateFunction };
  /** The innermost last. */
  readonly #variables: { readonly name: string; value: Value }[];

  constructor(functions: { readonly [name: string]: TemplateFunction }, data: Value) {
    this.#functions = functions;
    this.#variables = [{ name: "$", value: data }];
  }

  steps(steps: readonly Step[], dot: Value): Left {
    const outside = this.#variables.length;
    let left: Left = "at the end";
    for (const step of steps) {
      left = this.#step(step, dot);
      if (left !== "at the end") break;
    }
    this.#variables.length = outside;
    return left;
  }

  #step(step: Step, dot: Value): Left {
    switch (step.is) {
      case "text":
        this.#write(step.text);
        return "at the end";
      case "break":
      case "continue":
        return step.is;
      case "print": {
        const value = this.#told(step, () => this.#pipe(step.pipe, dot));
        if (step.pipe.variables.length === 0) this.#write(this.#told(step, () => printValue(value)));
        return "at the end";
      }
      case "range":
        return this.#range(step, dot);
      case "if":
      case "with":
        return this.#choice(step, dot);
    }
  }

  #choice(step: Extract<Step, { is: "if" | "with" | "range" }>, dot: Value): Left {
    const outside = this.#variables.length;
    try {
      for (const { pipe, body } of step.branches) {
        const value = this.#told(step, () => this.#pipe(pipe, dot));
        if (isTrue(value)) return this.steps(body, step.is === "with" ? value : dot);
      }
      return this.steps(step.otherwise, dot);
    } finally {
      this.#variables.length = outside;
    }
  }

  #range(step: Extract<Step, { is: "if" | "with" | "range" }>, dot: Value): Left {
    const [branch] = step.branches;
    if (branch === undefined) return "at the end";
    const { pipe, body } = branch;
    const elements = this.#told(step, () => elementsOf(this.#commands(pipe, dot)));
    if (elements.length === 0) return this.steps(step.otherwise, dot);
    const outside = this.#variables.length;
    for (const [key, value] of elements) {
      const [first, second] = pipe.variables;
      if (second !== undefined) this.#bind(pipe, first ?? "", key);
      if (first !== undefined) this.#bind(pipe, second ?? first, value);
      const left = this.steps(body, value);
      this.#variables.length = outside;
      if (left === "break") break;
    }
    return "at the end";
  }

  #pipe(pipe: Pipe, dot: Value): Value {
    const value = this.#commands(pipe, dot);
    for (const name of pipe.variables) this.#bind(pipe, name, value);
    return value;
  }

  #bind({ isAssignment }: Pipe, name: string, value: Value): void {
    if (!isAssignment) this.#variables.push({ name, value });
    else this.#variable(name).value = value;
  }

  #commands({ commands }: Pipe, dot: Value): Value {
    let value: Value | undefined;
    for (const command of commands) value = this.#command(command, dot, value);
    return value ?? null;
  }

  #command([first, ...rest]: readonly Operand[], dot: Value, piped: Value | undefined): Value {
    if (first?.is === "function") {
      return this.#call(first.name, rest, { dot, piped: piped === undefined ? [] : [piped] });
    }
    if (rest.length > 0 || piped !== undefined) throw new CtlError("can't give argument to non-function");
    return first === undefined ? null : this.#operand(first, dot);
  }

  #call(name: string, operands: readonly Operand[], { dot, piped }: { dot: Value; piped: readonly Value[] }): Value {
    switch (name) {
      case "and":
      case "or": {
        let value: Value = null;
        const lazily = [
          ...operands.map((operand) => () => this.#operand(operand, dot)),
          ...piped.map((one) => () => one),
        ];
        for (const next of lazily) {
          value = next();
          if (isTrue(value) === (name === "or")) break;
        }
        return value;
      }
      case "not":
        return !isTrue(operands[0] === undefined ? (piped[0] ?? null) : this.#operand(operands[0], dot));
    }
    const known = this.#functions[name]; // the parser has looked whether there is such a function
    if (known === undefined) throw new CtlError(`function "${name}" not defined`);
    return known([...operands.map((operand) => this.#operand(operand, dot)), ...piped]);
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.is) {
      case "dot":
        return dot;
      case "nil":
        return null;
      case "literal":
        return operand.value;
      case "variable":
        return this.#variable(operand.name).value;
      case "pipe":
        return this.#pipe(operand.pipe, dot);
      case "function":
        return this.#call(operand.name, [], { dot, piped: [] });
      case "field":
        return fieldOf(this.#operand(operand.of, dot), operand.name);
    }
  }

  #variable(name: string): { value: Value } {
    const found = this.#variables.findLast((one) => one.name === name);
    if (found === undefined) throw new CtlError(`undefined variable "${name}"`);
    return found;
  }

  #write(text: string): void {
    this.text += text;
    if (this.text.length > longestOutput) throw new CtlError("the template prints more than 256 MiB");
  }

  /** With the place in the template, as the original says it. */
  #told<T>({ line, source }: { line: number; source: string }, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof CtlError)) throw error;
      throw new CtlError(`template: get:${line}: executing "get" at <${source}>: ${error.message}`, { cause: error });
    }
  }
}

function fieldOf(value: Value, name: string): Value {
  if (value instanceof GoMap) return value.entries.get(name) ?? noValue;
  if (value instanceof GoStruct) {
    const field = value.field(name);
    if (field !== undefined) return field;
    throw new CtlError(`can't evaluate field ${name} in type ${value.typeName}`);
  }
  if (value === null) throw new CtlError(`nil pointer evaluating ${name}`);
  const what = Array.isArray(value) ? 'a list: use "range" to get at its elements' : `a ${typeof value}`;
  throw new CtlError(`can't evaluate field ${name} in ${what}`);
}

function elementsOf(value: Value): readonly (readonly [Value, Value])[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.map((one, index) => [index, one]);
  if (value instanceof GoMap) return [...value.entries];
  throw new CtlError(
    `range can't iterate over ${value instanceof GoStruct ? `a ${value.typeName}` : printValue(value)}`,
  );
}

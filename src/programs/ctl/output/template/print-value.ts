// Values as Go's fmt prints them with %v, and printf's verbs.
import { printGoFloat } from "../../../../calico/model/index.ts";
import { CtlError } from "../../console.ts";
import { GoFloat, GoMap, GoStruct, noValue, type Value } from "./go-values.ts";

export function printValue(value: Value): string {
  if (value === null) return "<nil>";
  if (value === noValue) return "<no value>";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : printGoFloat(value);
  if (value instanceof GoFloat) return printGoFloat(value.value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(" ")}]`;
  if (value instanceof GoMap) {
    return `map[${[...value.entries].map(([name, member]) => `${name}:${printValue(member)}`).join(" ")}]`;
  }
  if (value instanceof GoStruct) {
    throw new CtlError(`printing a whole ${value.typeName} is not supported: name a field of it, or use -o yaml`);
  }
  return String(value);
}

const verb = /%([-+# 0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])|%/g;
const widest = 1000;

export function printFormatted(format: string, values: readonly Value[]): string {
  let next = 0;
  const text = format.replaceAll(verb, (whole, flags: string, width: string, precision: string, letter: string) => {
    if (letter === "%") return "%";
    if (letter === undefined) throw new CtlError(`printf: ${whole} in ${JSON.stringify(format)} is not supported`);
    const value = values[next];
    next += 1;
    if (value === undefined) return `%!${letter}(MISSING)`;
    const printed = formatted(value, { letter, precision, whole, isSigned: flags.includes("+") });
    const missing = Math.min(Number(width ?? 0), widest) - [...printed].length;
    if (missing <= 0) return printed;
    if (flags.includes("-")) return printed + " ".repeat(missing);
    if (!flags.includes("0") || !/^[deEfFgGxXo]$/.test(letter)) return " ".repeat(missing) + printed;
    const [, sign = "", digits = ""] = /^([-+]?)(.*)$/s.exec(printed) ?? [];
    return sign + "0".repeat(missing) + digits;
  });
  const extra = values.slice(next);
  if (extra.length === 0) return text;
  return `${text}%!(EXTRA ${extra.map((value) => `${goType(value)}=${printValue(value)}`).join(", ")})`;
}

type Wanted = { letter: string; precision: string | undefined; whole: string; isSigned: boolean };

function formatted(given: Value, { letter, precision, whole, isSigned }: Wanted): string {
  if (given instanceof GoFloat && letter === "v") return printValue(given);
  const value = given instanceof GoFloat ? given.value : given;
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const sign = isSigned && isNumber && value >= 0 ? "+" : "";
  switch (letter) {
    case "v":
      return sign + printValue(value);
    case "s":
      if (isNumber || typeof value === "boolean") return wrong(letter, value);
      return precision === undefined ? printValue(value) : [...printValue(value)].slice(0, Number(precision)).join("");
    case "q":
      return typeof value === "string" ? JSON.stringify(value) : wrong(letter, value);
    case "d":
      return isNumber && (typeof value === "bigint" || Number.isInteger(value)) ? sign + value : wrong(letter, value);
    case "t":
      return typeof value === "boolean" ? String(value) : wrong(letter, value);
    case "x":
    case "X": {
      if (!isNumber) return wrong(letter, value);
      const digits = value.toString(16);
      return letter === "X" ? digits.toUpperCase() : digits;
    }
    case "f":
    case "F":
      return isNumber ? sign + Number(value).toFixed(Math.min(Number(precision ?? 6), 100)) : wrong(letter, value);
    case "g":
      return isNumber ? sign + printGoFloat(Number(value)) : wrong(letter, value);
    default:
      throw new CtlError(`printf: ${whole} is not supported; supported are %v, %s, %q, %d, %t, %x, %f and %g`);
  }
}

function wrong(letter: string, value: Value): string {
  return `%!${letter}(${goType(value)}=${printValue(value)})`;
}

function goType(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int" : "float64";
    case "bigint":
      return "int";
    default:
      return "interface {}";
  }
}

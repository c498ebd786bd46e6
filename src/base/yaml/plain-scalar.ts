// What a YAML scalar without quotes means to Go's reader (go-yaml 2), which speaks YAML 1.1: `yes` is true, 010 is 8, 1_000
// is 1000. A writer asks the same question: a text that would be taken for something else is written with quotes.

export type PlainScalar = string | number | bigint | boolean | null;

const named = new Map<string, PlainScalar>([
  ...words(true, "y Y yes Yes YES true True TRUE on On ON"),
  ...words(false, "n N no No NO false False FALSE off Off OFF"),
  ...words(null, "~ null Null NULL"),
  ["", null],
  ...words(Number.NaN, ".nan .NaN .NAN"),
  ...words(Number.POSITIVE_INFINITY, ".inf .Inf .INF +.inf +.Inf +.INF"),
  ...words(Number.NEGATIVE_INFINITY, "-.inf -.Inf -.INF"),
]);

function words<T>(value: T, list: string): [string, T][] {
  return list.split(" ").map((word) => [word, value]);
}

/** Anything else can only be text. */
const mayMeanMore = /^[-+0-9.yYnNtTfFoO~]/;
const startsAsNumber = /^[-+0-9]/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const dottedFloat = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
const wholeNumber = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const time =
  /^\d{4}-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/;
/** Written by old programs for times: 1:30. Go quotes it, and reads it as text. */
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const leastInteger = -(2n ** 63n);
const mostInteger = 2n ** 64n - 1n;

/** What the text stands for. A time stays text, as Go leaves it. */
export function readPlainScalar(text: string): PlainScalar {
  if (text !== "" && !mayMeanMore.test(text)) return text;
  const known = named.get(text);
  if (known !== undefined) return known;
  if (text.startsWith(".")) return dottedFloat.test(text) ? finiteOr(Number(text.replaceAll("_", "")), text) : text;
  if (!startsAsNumber.test(text) || isTime(text)) return text;
  const plain = text.replaceAll("_", "");
  const whole = readWholeNumber(plain);
  if (whole !== undefined) return whole;
  return float.test(plain) ? finiteOr(Number(plain), text) : text;
}

/** Whether a text must not be written without quotes: it would be read as something else. */
export function meansMoreThanText(text: string): boolean {
  if (text === "") return true;
  if (!mayMeanMore.test(text)) return false;
  return typeof readPlainScalar(text) !== "string" || isTime(text) || sexagesimal.test(text);
}

function finiteOr(value: number, text: string): number | string {
  return Number.isFinite(value) ? value : text;
}

function readWholeNumber(text: string): number | bigint | undefined {
  const [, sign, hexadecimal, binary, octal, decimal] = wholeNumber.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits =
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : (decimal ?? "0");
  const value = sign === "-" ? -BigInt(digits) : BigInt(digits);
  // With a plus sign only what is signed is read as a whole number; beyond that it is a float.
  if (value < leastInteger || value > (sign === "+" ? 2n ** 63n - 1n : mostInteger)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function isTime(text: string): boolean {
  const match = time.exec(text);
  if (match === null) return false;
  const [month = 0, day = 0, ...rest] = match.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
  const [hour = 0, minute = 0, second = 0] = rest[0] === undefined ? rest.slice(5) : rest;
  const [zoneHour = 0, zoneMinute = 0] = rest.slice(3, 5);
  const year = Number(text.slice(0, 4));
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysIn(year, month) &&
    hour < 24 &&
    minute < 60 &&
    second < 60 &&
    zoneHour <= 24 &&
    zoneMinute < 60
  );
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

// JSON whose integers beyond 2^53 stay exact, as bigint: nanoseconds since 1970 are of that size. Nearly no text has one, and the search for a run of 16 digits costs a hundredth of parsing (bench/convert/pods.ts; as a
// regular expression it cost a third).
const longRun = 16;
const quotationMark = 0x22;
const backslash = 0x5c;
const integer = /^-?[0-9]+$/;

/** Throws SyntaxError as JSON.parse does, and like there a member named `__proto__` is the object's own. */
export function parseJson(text: string): unknown {
  if (!mayHaveLongNumber(text)) return JSON.parse(text);
  return text.includes(escapedMark) ? parseSlowly(text) : parseMarked(text);
}

/**
 * What begins with it was a number: a control character, which JSON can only have in this one spelling, so it is seen where a text has
 * it already. A reviver, which sees every value with its source, takes several times as long for a list of blocks of addresses.
 */
const mark = "\u0001";
const escapedMark = "\\u0001";

function parseMarked(text: string): unknown {
  try {
    return unmarked(JSON.parse(withMarks(text)));
  } catch (error) {
    if (error instanceof SyntaxError) return parseSlowly(text); // its message is about the text as it was given
    throw error;
  }
}

function parseSlowly(text: string): unknown {
  return JSON.parse(text, keepLargeIntegers);
}

function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return integer.test(source) ? BigInt(source) : value;
}

const longInteger = /(?<![0-9.eE+-])-?[0-9]{16,}(?![0-9.eE])/y;
const minus = 0x2d;

/** Long integers between the texts become texts of their own. */
function withMarks(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    // As in mayHaveLongNumber: a run covers one of these places.
    for (let place = at + longRun - 1; place < end; place += longRun) {
      if (!isDigit(text.charCodeAt(place))) continue;
      let start = place;
      while (isDigit(text.charCodeAt(start - 1))) start -= 1;
      if (text.charCodeAt(start - 1) === minus) start -= 1;
      longInteger.lastIndex = start;
      const [digits] = longInteger.exec(text) ?? [];
      if (digits === undefined) continue;
      parts.push(text.slice(copied, start), '"', escapedMark, digits, '"');
      copied = start + digits.length;
      place = Math.max(place, copied - 1);
    }
    at = quote < 0 ? text.length : endOfText(text, quote);
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** After the closing mark; one behind an odd number of backslashes closes nothing. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = end;
    while (text.charCodeAt(slashes - 1) === backslash) slashes -= 1;
    if ((end - slashes) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** In place. */
function unmarked(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const each: unknown = value[at];
      if (typeof each === "object" || typeof each === "string") value[at] = unmarked(each);
    }
    return value;
  }
  const object = value as Record<string, unknown>; // of JSON.parse, whose members are all its own
  for (const name of Object.keys(object)) {
    const each = object[name];
    if (typeof each === "object") unmarked(each);
    else if (typeof each === "string" && each.startsWith(mark)) object[name] = numberOf(each.slice(mark.length));
  }
  return object;
}

function numberOf(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Any run of 16 covers a place whose number is 15 more than a multiple of 16, so only those are looked at. */
function mayHaveLongNumber(text: string): boolean {
  for (let at = longRun - 1; at < text.length; at += longRun) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end += 1;
    // A name or a text of digits, as in "1700000000000000000", is common, and a number never follows a quotation mark.
    if (end - start >= longRun && text.charCodeAt(start - 1) !== quotationMark) return true;
    while (at + longRun < end) at += longRun; // no run is walked through twice
  }
  return false;
}

/** NaN, which charCodeAt gives beyond the ends, is no digit. */
function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

// TypeScript's library does not know rawJSON yet; Node has had it since 21.
const { rawJSON } = JSON as typeof JSON & { rawJSON: (text: string) => unknown };

/** The way back: a bigint is written as the digits it was read from. */
export function writeJson(value: unknown, indent?: string): string {
  return JSON.stringify(value, (_name, field) => (typeof field === "bigint" ? rawJSON(String(field)) : field), indent);
}

// JSON whose integers beyond 2^53 stay exact, as bigint: nanoseconds since 1970 are of that size. Nearly no text has one, and the search for a run of 16 digits costs a hundredth of parsing (bench/convert/pods.ts; as a
// regular expression it cost a third).
const longRun = 16;
const quotationMark = 0x22;
const integer = /^-?[0-9]+$/;

/** Throws SyntaxError as JSON.parse does, and like there a member named `__proto__` is the object's own. */
export function parseJson(text: string): unknown {
  return mayHaveLongNumber(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text);
}

function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return integer.test(source) ? BigInt(source) : value;
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

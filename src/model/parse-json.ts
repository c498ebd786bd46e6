// JSON.parse that keeps integers beyond 2^53 exact, as bigint: block sequence numbers are nanoseconds since 1970.
// Nearly no text has one, and a search for a run of 16 digits costs a fraction of parsing (bench/convert.ts).
const longDigitRun = /[0-9]{16}/;
const integer = /^-?[0-9]+$/;

/** Throws SyntaxError as JSON.parse does. Values have null or own-property semantics of JSON.parse: `__proto__` is own. */
export function parseJson(text: string): unknown {
  return longDigitRun.test(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text);
}

function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return integer.test(source) ? BigInt(source) : value;
}

// The DSCP annotation of pods and host endpoints: a number or one of the names of the standard.

const names = new Set(
  "DF EF AF11 AF12 AF13 AF21 AF22 AF23 AF31 AF32 AF33 AF41 AF42 AF43 CS0 CS1 CS2 CS3 CS4 CS5 CS6".split(" "),
);
const digits = /^[0-9]+$/;

/** Undefined: not a DSCP value. The original accepts a name with blanks around it and sends it with them. */
export function parseDscp(text: string): number | string | undefined {
  if (digits.test(text)) {
    const value = Number(text);
    if (value <= 255) return value <= 63 ? value : undefined;
    return undefined;
  }
  const upper = text.toUpperCase();
  if (names.has(upper)) return upper;
  return names.has(upper.trim()) ? text : undefined;
}

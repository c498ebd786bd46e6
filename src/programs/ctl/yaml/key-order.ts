// The order in which the original's YAML writer puts the keys of a map: numbers within names by their value (rule2 before
// rule10), letters after everything else.
const digit = /\p{Nd}/u;
const letter = /\p{L}/u;

export function compareKeys(a: string, b: string): number {
  if (isSimple(a) && isSimple(b)) return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [[...a], [...b]];
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    if (left[at] !== right[at]) return compareAt({ left, right, at });
  }
  return left.length - right.length;
}

/** Only letters of one alphabet: their own order. */
function isSimple(name: string): boolean {
  return /^[A-Za-z]*$/.test(name);
}

function compareAt({ left, right, at }: { left: readonly string[]; right: readonly string[]; at: number }): number {
  const [a = "", b = ""] = [left[at], right[at]];
  const isLetter = [letter.test(a), letter.test(b)];
  if (isLetter[0] && isLetter[1]) return codeOf(a) - codeOf(b);
  if (isLetter[0] || isLetter[1]) return isLetter[1] ? -1 : 1;
  // A zero that differs may stand inside a number: 10 and 100 begin alike, 1 and 01 do not.
  const start = (a === "0" || b === "0") && isInsideNumber(left, at) ? 1n : 0n;
  const [numberA, endA] = numberAt(left, at, start);
  const [numberB, endB] = numberAt(right, at, start);
  if (numberA !== numberB) return numberA < numberB ? -1 : 1;
  if (endA !== endB) return endA - endB;
  return codeOf(a) - codeOf(b);
}

function isInsideNumber(text: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0 && digit.test(text[before] ?? ""); before--) {
    if (text[before] !== "0") return true;
  }
  return false;
}

/** Of 64 bits, as there: a longer number overflows alike. */
function numberAt(text: readonly string[], at: number, start: bigint): [bigint, number] {
  let value = start;
  let end = at;
  for (; end < text.length && digit.test(text[end] ?? ""); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(text[end] ?? "0") - 48));
  }
  return [value, end];
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

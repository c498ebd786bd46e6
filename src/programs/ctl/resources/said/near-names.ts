// The name that a user probably meant by one that is not there. Strict, because names of the same making differ little and
// are no slips of each other: pool-a and pool-b, node1 and node2, ipv4-ippool-1 and ipv4-ippool-2.
import { nearest } from "../../../../base/lib/index.ts";

export function nearName(missing: string, known: readonly string[]): string | undefined {
  const candidates = known.filter((name) => name !== missing && isSlip(missing, name));
  return candidates.length === 1 ? candidates[0] : nearest(missing, candidates);
}

/** One part of the name is misspelt, a word of some letters; numbers and single letters are told apart on purpose. */
function isSlip(a: string, b: string): boolean {
  if (digitsOf(a) !== digitsOf(b)) return false;
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.length !== right.length) return lettersOf(a) === lettersOf(b) && lettersOf(a).length >= leastLetters;
  const differing = left.flatMap((part, at) => (part === right[at] ? [] : [[part, right[at] ?? ""] as const]));
  return differing.length === 1 && differing.every(([one, other]) => isMisspelt(one, other));
}

const leastLetters = 5;

/** One letter too many, too few or wrong, or two that changed places. */
function isMisspelt(a: string, b: string): boolean {
  if (Math.max(a.length, b.length) < leastLetters) return false;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  if (restA.slice(1) === restB || restA === restB.slice(1)) return true;
  // A last letter that differs is a name of a series: web-a, web-b.
  if (restA.slice(1) === restB.slice(1)) return restA.length > 1 && a.length > leastLetters;
  return restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
}

function partsOf(name: string): readonly string[] {
  return name.split(/[-.]/);
}

function lettersOf(name: string): string {
  return partsOf(name).join("");
}

function digitsOf(name: string): string {
  return name.replaceAll(/[^0-9]+/g, " ").trim();
}

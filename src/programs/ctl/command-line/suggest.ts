// The name that a misspelt one probably meant. Stricter than base/lib's nearest: what is printed after the original's words
// must be worth a line, and `pods` is a kind of Kubernetes, not a slip for `pols`.
import { editDistance, nearest } from "../../../base/lib/index.ts";

/** "" or a line of its own, to be put after the message. */
export function suggestion(
  typed: string,
  known: readonly string[],
  shown: (name: string) => string = (it) => it,
): string {
  const found = typed.length < 4 ? undefined : nearest(typed.toLowerCase(), known);
  return found === undefined || !isSlip(typed.toLowerCase(), found) ? "" : `\nDid you mean ${shown(found)}?`;
}

/** A letter wrong in a short word, two in a long one. */
function isSlip(typed: string, meant: string): boolean {
  return editDistance(typed, meant) <= (typed.length < 5 ? 1 : 2);
}

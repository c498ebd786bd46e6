// A number or a truth value of YAML where text is expected, as the original writes it: its floats have 32 bits there.
import { printGoFloat } from "../../../calico/model/index.ts";

export function scalarAsText(value: string | number | bigint | boolean): string {
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  return Number.isSafeInteger(value) ? String(value) : printGoFloat(shortest32(value));
}

/** The number with the fewest digits that is the same one in 32 bits. */
function shortest32(value: number): number {
  const narrow = Math.fround(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(narrow.toPrecision(digits));
    if (Math.fround(short) === narrow) return short;
  }
  return Number(narrow.toPrecision(9));
}

// A pool's addresses in equal parts.
import { type AddressRange, bitsOf, rangeText } from "../../../base/lib/index.ts";

export type SplitRange =
  | { readonly is: "parts"; readonly parts: readonly AddressRange[] }
  | { readonly is: "problem"; readonly says: string };

/** So many objects are written one after another; nobody wants more pools. */
const mostParts = 1024;

/** A part must hold at least a block. */
export function splitRange(range: AddressRange, count: number, blockSize: number): SplitRange {
  const problem = (says: string): SplitRange => ({ is: "problem", says });
  const bits = Math.log2(count);
  if (count < 2 || !Number.isInteger(bits)) {
    return problem(`number to split CIDR into is not a valid power of 2: ${count}`);
  }
  const { family, first } = range;
  const prefixLength = range.prefixLength + bits;
  if (prefixLength > bitsOf(family)) {
    return problem(`the CIDR ${rangeText(range)} is not large enough to be split into ${count} parts`);
  }
  if (prefixLength > blockSize)
    return problem(`the parts would be smaller than the pool's blocks, which are /${blockSize}`);
  if (count > mostParts) return problem(`${count} parts are more than ${mostParts}`);
  const size = 1n << BigInt(bitsOf(family) - prefixLength);
  const parts = Array.from({ length: count }, (_, at) => ({ family, first: first + BigInt(at) * size, prefixLength }));
  return { is: "parts", parts };
}

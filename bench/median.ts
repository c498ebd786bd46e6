// The middle of several measurements: what a busy moment of the machine, or a collection of garbage, does not move.
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

// A copy in random order, each order as likely as any other.

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const copy = [...items];
  for (let index = copy.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const held = copy[index] as T; // both indexes are within the array
    copy[index] = copy[other] as T;
    copy[other] = held;
  }
  return copy;
}

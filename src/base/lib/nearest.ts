// The known name that a misspelt one probably meant.
export function nearest(misspelt: string, known: readonly string[]): string | undefined {
  const name = misspelt.slice(0, 100);
  // A name half of whose letters differ is another word, not a slip.
  let best: { name: string | undefined; distance: number } = { name: undefined, distance: Math.ceil(name.length / 2) };
  for (const candidate of known) {
    // It is at least as far away as it is longer or shorter: most need not be looked at.
    if (Math.abs(name.length - candidate.length) >= best.distance) continue;
    const distance = editDistance(name, candidate);
    if (distance < best.distance) best = { name: candidate, distance };
  }
  return best.name;
}

/** Levenshtein's: insertions, deletions and replacements. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current[j] = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, replaced);
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

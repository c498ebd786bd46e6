// Which keys `cattail watch` shows. Patterns are matched from the left, with * for any run of characters: no regular
// expression of the user's.

export function patternMatcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => true;
  const parsed = patterns.map((pattern) => pattern.split("*"));
  return (path) => parsed.some((parts) => matchesParts(path, parts));
}

function matchesParts(path: string, parts: readonly string[]): boolean {
  const [first = "", ...rest] = parts;
  if (!path.startsWith(first)) return false;
  if (rest.length === 0) return path === first;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return path.length - at >= last.length && path.endsWith(last);
}

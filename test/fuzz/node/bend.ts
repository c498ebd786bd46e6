// Values and texts that are nearly right: what fuzzers give to readers.
import type { Random } from "../../kit/random.ts";

const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e300,
  "",
  "x".repeat(300),
  "10.0.0.0/99",
  "::/0",
  [],
  {},
  [null],
  "__proto__",
];

/** The same value with some of it removed, replaced, repeated or moved. */
export function bent(value: unknown, random: Random): unknown {
  let changed = structuredClone(value);
  for (let i = 1 + random.below(4); i > 0; i--) changed = bendOnce(changed, random);
  return changed;
}

function bendOnce(value: unknown, random: Random): unknown {
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || random.isOneIn(12))
    return typeof value === "string" && !random.isOneIn(3) ? bentText(value, random) : random.pick(odd);
  if (Array.isArray(value)) {
    const at = random.below(Math.max(1, value.length));
    if (random.isOneIn(5)) return value.toSpliced(at, 1);
    if (random.isOneIn(5)) return value.toSpliced(at, 0, value[random.below(Math.max(1, value.length))]);
    return value.length === 0 ? [random.pick(odd)] : value.with(at, bendOnce(value[at], random));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return { x: random.pick(odd) };
  const [name, inner] = random.pick(entries);
  if (random.isOneIn(6)) return Object.fromEntries(entries.filter(([each]) => each !== name));
  return Object.fromEntries(entries.map(([each, held]) => [each, each === name ? bendOnce(inner, random) : held]));
}

export function bentText(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(at);
    case 2:
      return `${text.slice(0, at)}${random.pick(["\n", "\0", '"', "'", ";", "}", "/", ":", "-", " ", "é", "9999999999"])}${text.slice(at)}`;
    case 3:
      return text.slice(0, at) + text.slice(at + 1 + random.below(4));
    case 4:
      return `${text.slice(0, at)}${String.fromCharCode(random.below(0x250))}${text.slice(at + 1)}`;
    default:
      return `${text}${text.slice(at)}`;
  }
}

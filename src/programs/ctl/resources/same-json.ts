// Whether two JSON values say the same, whatever the order of their members.
import { isRecord } from "../../../base/lib/index.ts";

export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, at) => isSameJson(one, b[at]));
  if (!isRecord(a) || !isRecord(b) || Array.isArray(b)) return a === b;
  const [left, right] = [membersOf(a), membersOf(b)];
  return (
    left.size === right.size &&
    [...left].every(([name, value]) => right.has(name) && isSameJson(value, right.get(name)))
  );
}

/** A member that is undefined is none. */
function membersOf(record: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(record).filter(([, value]) => value !== undefined));
}

// A deep copy that nobody can change, so that a datastore in the process shares its objects with every reader as
// safely as one behind a socket would.
export function frozenCopy(value: unknown, depth = 0): unknown {
  if (depth > 200) throw new RangeError("the object is nested deeper than 200 levels");
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenCopy(item, depth + 1)));
  if (typeof value !== "object" || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  // What is no plain object (a number kept exactly, say) belongs to whoever made it, and is shared as it is.
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = Object.create(prototype);
  for (const [name, field] of Object.entries(value)) {
    // defineProperty, because assigning to a field called __proto__ would change the copy's prototype instead.
    Object.defineProperty(copy, name, { value: frozenCopy(field, depth + 1), enumerable: true });
  }
  return Object.freeze(copy);
}

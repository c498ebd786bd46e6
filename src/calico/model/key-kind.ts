// What kind of thing a key is about, in one word for people: a resource's kind, or the sort of key.
import { pathToKey } from "./path-to-key.ts";

export function keyKind(path: string): string {
  const key = pathToKey(path);
  if (key === undefined) return "unknown";
  return key.is === "Resource" ? key.kind : key.is;
}

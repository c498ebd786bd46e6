// What an object has from its birth on: a uid and the time. Given by whoever stores it first, kept by every update.
import type { Clock } from "../../base/lib/index.ts";
import { isJsonObject, metadataOf } from "./identify.ts";

export type Birth = { readonly makeUid: () => string; readonly clock: Clock };

/** The value with both in its metadata: those of the stored object, else its own, else new ones. */
export function withBirth(value: unknown, { birth, stored }: { birth: Birth; stored?: unknown }): unknown {
  if (!isJsonObject(value)) return value;
  const given = metadataOf(value);
  const before = metadataOf(stored);
  const uid = before.uid ?? given.uid ?? birth.makeUid();
  const creationTimestamp = before.creationTimestamp ?? given.creationTimestamp ?? isoSeconds(birth.clock.wallMs());
  return { ...value, metadata: { ...given, uid, creationTimestamp } };
}

function isoSeconds(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}

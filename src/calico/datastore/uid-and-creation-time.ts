// An object's uid and creation time: given by whoever stores it first, kept by every update.
import { type Clock, isRecord } from "../../base/lib/index.ts";
import { metadataOf } from "./object-id.ts";

export type MakeMetadata = { readonly makeUid: () => string; readonly clock: Clock };

/** The value with both in its metadata: those of the stored object, else its own, else new ones. */
export function withUidAndCreationTime(
  value: unknown,
  { make, stored }: { make: MakeMetadata; stored?: unknown },
): unknown {
  if (!isRecord(value)) return value;
  const given = metadataOf(value);
  const before = metadataOf(stored);
  const uid = before.uid ?? given.uid ?? make.makeUid();
  const creationTimestamp = before.creationTimestamp ?? given.creationTimestamp ?? isoSeconds(make.clock.wallMs());
  return { ...value, metadata: { ...given, uid, creationTimestamp } };
}

function isoSeconds(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}

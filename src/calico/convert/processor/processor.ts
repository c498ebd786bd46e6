// How a syncer feeds objects of one kind through conversion. One processor per kind and syncer; it keeps no more state
// than its rules need (which of two pools owns a CIDR, which settings came from annotations) and none at all for most.
import type { ConvertedKv, Problem } from "./converted.ts";

export type ProcessorId = { readonly namespace: string; readonly name: string };

export type ProcessorOutput = {
  /** In the order in which they are sent. */
  readonly kvs: readonly ConvertedKv[];
  readonly problems: readonly Problem[];
};

/** Where the syncer has an object from. Only block affinities care: the original hides deleted ones from its lists. */
export type Origin = "list" | "watch";

export type Processor = {
  /** The object as it is stored now, in parsed JSON that nobody has checked. Never throws. */
  set(id: ProcessorId, revision: string, value: unknown, origin?: Origin): ProcessorOutput;
  delete(id: ProcessorId): ProcessorOutput;
};

export const nothing: ProcessorOutput = { kvs: [], problems: [] };

/** How a user would name the object. */
export function objectName(kind: string, id: ProcessorId): string {
  return id.namespace === "" ? `${kind}/${id.name}` : `${kind}/${id.namespace}/${id.name}`;
}

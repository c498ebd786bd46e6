// What the syncers know about themselves, for metrics, health and the dashboard. Taken when asked for.
import type { ConversionProblem } from "../convert/index.ts";
import type { Kind } from "../kinds/index.ts";
import { resourcePrefix, type SyncerType, type SyncStatus } from "../model/index.ts";
import type { Announcer } from "./announce.ts";
import type { ProblemCount } from "./problems.ts";

export type KindState = {
  readonly kind: Kind;
  readonly syncers: readonly SyncerType[];
  readonly status: SyncStatus;
  /** Keys announced and not deleted since. */
  readonly keys: number;
  /** Objects and deletions taken in since the start. */
  readonly sets: number;
  readonly deletes: number;
};

export type SyncerStats = {
  readonly kinds: readonly KindState[];
  readonly problems: readonly ProblemCount[];
  readonly statuses: { readonly [syncer: string]: SyncStatus };
  /** Known once felix has been in sync; invalid nodes count, too. */
  readonly nodeCount: number | undefined;
  listProblems(limit: number): readonly ConversionProblem[];
};

const nodes = resourcePrefix("Node");

export function nodeCountOf(announcer: Announcer | undefined): number {
  let count = 0;
  for (const path of announcer?.paths() ?? []) if (path.startsWith(nodes)) count += 1;
  return count;
}

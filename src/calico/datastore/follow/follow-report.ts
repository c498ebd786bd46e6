// What a follower tells about itself: /watches, the dashboard and doctor show it.
import type { Kind } from "../../kinds/index.ts";
import { type SyncStatus, syncStatus } from "../../model/index.ts";
import type { DatastoreErrorCode } from "../errors.ts";

export type FollowState =
  | "waiting" // between attempts
  | "listing"
  | "watching"
  | "polling" // cannot be watched, or has no custom resource definition: listed every few seconds
  | "missing" // its API is not installed
  | "forbidden" // we may not read it: `missingRule` says what to grant
  | "stopped";

export type FollowReport = {
  readonly kind: Kind;
  readonly state: FollowState;
  readonly status: SyncStatus;
  /** How many objects are announced. */
  readonly objects: number;
  /** Where the watch is, or would go on. Opaque. */
  readonly revision: string;
  /** Wall clock; undefined before the first one. */
  readonly lastEventAtMs: number | undefined;
  readonly listsCompleted: number;
  /** Lists after the first complete one: each means that a watch could not go on. */
  readonly relists: number;
  readonly watchesOpened: number;
  /** Watches given up because nothing was heard. */
  readonly silences: number;
  readonly errors: number;
  readonly lastError:
    | { readonly code: DatastoreErrorCode; readonly message: string; readonly atMs: number }
    | undefined;
  /** The RBAC rule to grant, as YAML: from a refusal on, also while it is tried again, until the kind is read. */
  readonly missingRule: string | undefined;
};

export type MutableFollowReport = { -readonly [Field in keyof FollowReport]: FollowReport[Field] };

export function newReport(kind: Kind): MutableFollowReport {
  return {
    kind,
    state: "waiting",
    status: syncStatus.waitForDatastore,
    objects: 0,
    revision: "",
    lastEventAtMs: undefined,
    listsCompleted: 0,
    relists: 0,
    watchesOpened: 0,
    silences: 0,
    errors: 0,
    lastError: undefined,
    missingRule: undefined,
  };
}

/** Logs, /watches and the dashboard have always called a kind that is not there "not-found". */
export function publicCode({ code }: { readonly code: DatastoreErrorCode }): DatastoreErrorCode {
  return code === "no-such-kind" ? "not-found" : code;
}

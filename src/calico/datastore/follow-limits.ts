// The times and counts of a follower. Where the original has the number too, it is the original's.
export type FollowLimits = {
  /** Least time between two attempts to list or watch. */
  readonly attemptIntervalMs: number;
  /** First wait after a failed list; grows from there (backoff.ts), where the original stays at it. */
  readonly listRetryMs: number;
  /** Time between lists of a kind that cannot be watched or whose custom resource definition is missing. */
  readonly pollIntervalMs: number;
  /** Time between looks for an API that is not installed. */
  readonly missingApiRetryMs: number;
  /**
   * Longest time between tries to read an optional kind that we may not read. The first ones come soon: an API server
   * that has just started refuses everything until it has read its roles. Ours.
   */
  readonly forbiddenRetryMs: number;
  /** So long without contact, and the kind says "wait for datastore". */
  readonly contactLostMs: number;
  /** So long without event, bookmark or page, and the connection is given up: it may be half open. Ours. */
  readonly silenceMs: number;
  /** Failures at one revision after which the watch is given up for a list. */
  readonly errorsBeforeList: number;
};

export const followLimits: FollowLimits = {
  attemptIntervalMs: 500,
  listRetryMs: 1000,
  pollIntervalMs: 5000,
  missingApiRetryMs: 30 * 60_000,
  forbiddenRetryMs: 5 * 60_000,
  contactLostMs: 600_000,
  silenceMs: 150_000,
  errorsBeforeList: 5,
};

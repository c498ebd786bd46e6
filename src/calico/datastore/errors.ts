// The one error every datastore throws. The code tells a follower what to do next; the message tells a person what was
// seen. Whoever meets a foreign error (HTTP status, gRPC status, errno) translates it here at the edge, once.

export const datastoreErrorCodes = [
  "expired", // the revision, or a list's continuation, is too old to go on from: list again
  "too-large-revision", // the server has not reached the revision yet: list again from scratch
  "not-found", // the object, or the namespace it should be in, does not exist
  "no-such-kind", // the kind does not exist: its API or CRD is missing, or this datastore never holds it
  "forbidden", // we are known, and may not
  "unauthorized", // we are not known: token or certificate refused
  "conflict", // the object has another revision than the one named
  "exists", // the object to create is there already
  "unavailable", // nobody answered, or the answer broke off, or the server said it cannot now
  "rate-limited", // the server asks us to come back later
  "unsupported", // the datastore cannot do this for this kind (e.g. watch)
  "invalid", // the server refused the request's content, or answered what is no answer
] as const;
export type DatastoreErrorCode = (typeof datastoreErrorCodes)[number];

export type DatastoreErrorOptions = {
  readonly cause?: unknown;
  /** What the server asked us to wait (Retry-After). */
  readonly retryAfterMs?: number;
  /** HTTP or gRPC status, where there was one. */
  readonly status?: number;
  /** For "forbidden": the RBAC rule that would allow it, as YAML to paste into a ClusterRole. */
  readonly missingRule?: string;
  /** What a person can do about it. */
  readonly next?: string;
  /** What an API server said, word for word. */
  readonly says?: string;
};

export class DatastoreError extends Error {
  readonly code: DatastoreErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly missingRule: string | undefined;
  readonly next: string | undefined;
  readonly says: string | undefined;

  constructor(code: DatastoreErrorCode, message: string, options: DatastoreErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DatastoreError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.missingRule = options.missingRule;
    this.next = options.next;
    this.says = options.says;
  }
}

/** Nobody answered, or too late. */
export function unavailable(says: string): DatastoreError {
  return new DatastoreError("unavailable", says);
}

export function isDatastoreError(error: unknown, ...codes: DatastoreErrorCode[]): error is DatastoreError {
  return error instanceof DatastoreError && (codes.length === 0 || codes.includes(error.code));
}

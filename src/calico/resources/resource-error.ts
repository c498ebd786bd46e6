// What can go wrong with a v3 object, in the original's words: scripts and people look for these texts. Codes are ours.
import { DatastoreError, isDatastoreError } from "../datastore/index.ts";
import { type Problem, problemText } from "../kinds/index.ts";
import type { ApiKind } from "./api-kinds.ts";
import { type Id, nameInMessages } from "./names.ts";

const resourceErrorCodes = [
  "not-found", // no such object
  "exists", // the object to create is there already
  "conflict", // it was changed since the resourceVersion given
  "invalid", // fields that break a rule; `problems` has them all
  "unsupported", // nobody can do this to this object
  "unauthorized", // the datastore does not know us, or we may not
  "refused", // the API server will not have the object; the text is its own
  "no-such-kind", // the kind's CRD is not installed, or this datastore never holds it
  "unreadable", // what is stored is no such object
  "unavailable", // nobody answered, or not in time
] as const;
export type ResourceErrorCode = (typeof resourceErrorCodes)[number];

export type ResourceErrorOptions = {
  readonly cause?: unknown;
  readonly problems?: readonly Problem[];
  /** What a person can do about it. */
  readonly next?: string;
  /** For "unauthorized": the RBAC rule that would allow it. */
  readonly missingRule?: string;
};

export class ResourceError extends Error {
  readonly code: ResourceErrorCode;
  readonly problems: readonly Problem[];
  readonly next: string | undefined;
  readonly missingRule: string | undefined;

  constructor(code: ResourceErrorCode, message: string, options: ResourceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ResourceError";
    this.code = code;
    this.problems = options.problems ?? [];
    this.next = options.next;
    this.missingRule = options.missingRule;
  }
}

export function isResourceError(error: unknown, ...codes: ResourceErrorCode[]): error is ResourceError {
  return error instanceof ResourceError && (codes.length === 0 || codes.includes(error.code));
}

/** Throws where there is any. */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new ResourceError("invalid", problemText(problems), { problems });
}

/** `why` is what the datastore says about it; etcd says nothing. */
export function notFound(kind: ApiKind, id: Id, why: string | undefined, cause?: unknown): ResourceError {
  const text = `resource does not exist: ${nameInMessages(kind, id)} with error: ${why ?? "<nil>"}`;
  return new ResourceError("not-found", text, { cause });
}

export function alreadyExists(name: string, why: string | undefined, cause?: unknown): ResourceError {
  return new ResourceError("exists", `resource already exists: ${name} with error: ${why ?? "<nil>"}`, { cause });
}

/** The original says no more than the name; which versions met helps more. */
export function updateConflict(
  kind: ApiKind,
  id: Id,
  seen: { given?: string; stored?: string; cause?: unknown } = {},
): ResourceError {
  const { given, stored, cause } = seen;
  const versions =
    given === undefined || stored === undefined ? "" : `: resourceVersion ${given} was given, ${stored} is stored`;
  return new ResourceError("conflict", `update conflict: ${nameInMessages(kind, id)}${versions}`, {
    cause,
    next: "read the object again and make the change to what it is now, or leave resourceVersion out",
  });
}

export function unsupported(operation: string, name: string, reason?: string, next?: string): ResourceError {
  const text = `operation ${operation} is not supported on ${name}`;
  return new ResourceError("unsupported", reason === undefined ? text : `${text}: ${reason}`, {
    ...(next === undefined ? {} : { next }),
  });
}

export function unreadable(kind: ApiKind, id: Id, problem: string, cause?: unknown): ResourceError {
  return new ResourceError(
    "unreadable",
    `${nameInMessages(kind, id)} is stored in a form that cannot be read: ${problem}`,
    {
      cause,
      next: "mend the stored object by hand, or delete it",
    },
  );
}

/** What went wrong in the datastore, said of the object it was about. Anything else is what it is. */
export function resourceErrorOf(error: unknown, about: { kind: ApiKind; id: Id; why?: Why }): unknown {
  if (!isDatastoreError(error)) return error;
  const { kind, id, why } = about;
  const said = saidBy(error);
  switch (error.code) {
    case "not-found":
      return notFound(kind, id, said ?? why?.notFound, error);
    case "exists":
      return alreadyExists(nameInMessages(kind, id), said ?? why?.exists, error);
    case "conflict":
      return updateConflict(kind, id, { cause: error });
    case "unauthorized":
    case "forbidden": {
      const { missingRule } = error;
      return new ResourceError("unauthorized", `connection is unauthorized: ${said ?? error.message}`, {
        cause: error,
        ...(missingRule === undefined ? {} : { missingRule }),
      });
    }
    case "invalid":
      return new ResourceError("refused", said ?? error.message, { cause: error });
    case "no-such-kind": {
      const text = `resource does not exist: ${nameInMessages(kind, id)} with error: ${error.message}`;
      const { next } = error;
      return new ResourceError("no-such-kind", text, { cause: error, ...(next === undefined ? {} : { next }) });
    }
    default:
      return new ResourceError("unavailable", said ?? error.message, { cause: error });
  }
}

/** What Kubernetes would say, for datastores that keep its objects and say nothing themselves. */
export type Why = { readonly notFound?: string; readonly exists?: string };

/** The API server's own words, however often the error was wrapped. */
function saidBy(error: DatastoreError): string | undefined {
  for (let at: unknown = error; at instanceof DatastoreError; at = at.cause) if (at.says !== undefined) return at.says;
  return undefined;
}

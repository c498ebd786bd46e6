// The one error of this room: what the API server, or the network on the way to it, answered instead of what was asked
// for. A Kubernetes Status comes as the body of a failed request and as the object of an ERROR event in a watch: the same
// mapping for both.
import { connectionWords, isRecord, type JsonRecord } from "../lib/index.ts";

/** What each code means to a caller is said by what to do next. */
const nextSteps = {
  expired: "List again: the revision, or the list's continuation, is too old to go on from",
  "too-large-revision": "List again from scratch: the server has not reached the revision yet",
  "not-found": "Check the name; or the kind is not installed on this server",
  forbidden: "Grant the missing right to the user or service account",
  unauthorized: "Check the token or the certificate: the server does not know them",
  conflict: "Read the object again and repeat the change: somebody else has changed it",
  exists: "Update the object instead: it is there already",
  unavailable: "Try again; check that the API server runs and can be reached",
  "rate-limited": "Try again after the time the server asked for",
  unsupported: "The server has no such operation for this kind",
  invalid: "Correct the request; or check that this is a Kubernetes API server",
} as const;

export type KubeErrorCode = keyof typeof nextSteps;

export type KubeErrorOptions = {
  readonly cause?: unknown;
  /** Of HTTP, where there was an answer. */
  readonly status?: number;
  /** The Status's own word, such as AlreadyExists. */
  readonly reason?: string;
  /** What the server asked us to wait (Retry-After). */
  readonly retryAfterMs?: number;
  /** The Status's message, word for word: what kubectl would show. */
  readonly says?: string;
};

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly says: string | undefined;

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "KubeError";
    this.code = code;
    this.status = options.status;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
    this.says = options.says;
  }

  /** What to do about it. */
  get next(): string {
    return nextSteps[this.code];
  }
}

export function isKubeError(error: unknown, ...codes: KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

const codeOfStatus: { readonly [status: number]: KubeErrorCode } = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  405: "unsupported",
  409: "conflict",
  410: "expired",
  429: "rate-limited",
};

/** A refusal names every field that is wrong; a server that never ends is not listened to. */
const mostSaid = 20_000;

/** `body` is a Status, or whatever else came; `retryAfter` the header. */
export function statusError(
  status: number,
  body: unknown,
  options: { retryAfter?: string | undefined; wallMs: number; what: string },
): KubeError {
  const says: JsonRecord = isRecord(body) ? body : {};
  const text = typeof says.message === "string" ? says.message : typeof body === "string" ? body : "no message";
  const retryAfterMs = retryDelayMs(options.retryAfter, options.wallMs) ?? secondsIn(says.details);
  return new KubeError(codeOf(status, says), `${options.what}: ${status} ${shorten(text)}`, {
    status,
    ...(typeof says.reason === "string" ? { reason: says.reason } : {}),
    ...(typeof says.message === "string" ? { says: says.message.slice(0, mostSaid) } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function codeOf(status: number, says: JsonRecord): KubeErrorCode {
  if (isTooLarge(says)) return "too-large-revision";
  if (says.reason === "Expired" || says.reason === "Gone") return "expired";
  if (says.reason === "AlreadyExists") return "exists";
  return codeOfStatus[status] ?? (status >= 500 ? "unavailable" : "invalid");
}

// A timeout (504) whose cause names the revision; older servers say it only in the text.
function isTooLarge(says: JsonRecord): boolean {
  const causes = isRecord(says.details) && Array.isArray(says.details.causes) ? says.details.causes : [];
  if (causes.some((cause: unknown) => isRecord(cause) && cause.reason === "ResourceVersionTooLarge")) return true;
  return says.reason === "Timeout" && `${says.message}`.includes("Too large resource version");
}

function secondsIn(details: unknown): number | undefined {
  const seconds = isRecord(details) ? details.retryAfterSeconds : undefined;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}

function retryDelayMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - wallMs);
}

/** Nobody answered, or the answer broke off. */
export function connectionError(error: unknown, what: string): KubeError {
  if (error instanceof KubeError) return error;
  return new KubeError("unavailable", `${what}: ${shorten(connectionWords(error))}`, { cause: error });
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

// Turns what the API server (or the network) says into the one error of all datastores. A Kubernetes Status comes as the
// body of a failed request, and as the object of an ERROR event in a watch: the same mapping for both.
import { DatastoreError, type DatastoreErrorCode } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../identify.ts";

const codeOfStatus: { readonly [status: number]: DatastoreErrorCode } = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  405: "unsupported",
  409: "conflict",
  410: "expired",
  429: "rate-limited",
};

/** `body` is a Status, or whatever else came; `retryAfter` the header. */
export function statusError(
  status: number,
  body: unknown,
  options: { retryAfter?: string | undefined; wallMs: number; what: string },
): DatastoreError {
  const says: JsonObject = isJsonObject(body) ? body : {};
  const text = typeof says.message === "string" ? says.message : typeof body === "string" ? body : "no message";
  const retryAfterMs = retryDelayMs(options.retryAfter, options.wallMs) ?? secondsIn(says.details);
  return new DatastoreError(codeOf(status, says), `${options.what}: ${status} ${shorten(text)}`, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function codeOf(status: number, says: JsonObject): DatastoreErrorCode {
  if (isTooLarge(says)) return "too-large-revision";
  if (says.reason === "Expired" || says.reason === "Gone") return "expired";
  if (says.reason === "AlreadyExists") return "exists";
  return codeOfStatus[status] ?? (status >= 500 ? "unavailable" : "invalid");
}

// A timeout (504) whose cause names the revision; older servers say it only in the text.
function isTooLarge(says: JsonObject): boolean {
  const causes = isJsonObject(says.details) && Array.isArray(says.details.causes) ? says.details.causes : [];
  if (causes.some((cause: unknown) => isJsonObject(cause) && cause.reason === "ResourceVersionTooLarge")) return true;
  return says.reason === "Timeout" && `${says.message}`.includes("Too large resource version");
}

function secondsIn(details: unknown): number | undefined {
  const seconds = isJsonObject(details) ? details.retryAfterSeconds : undefined;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}

function retryDelayMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - wallMs);
}

/** Nobody answered, or the answer broke off. */
export function connectionError(error: unknown, what: string): DatastoreError {
  if (error instanceof DatastoreError) return error;
  const { code, message } = error as NodeJS.ErrnoException; // what node:http emits; a non-error has neither
  return new DatastoreError("unavailable", `${what}: ${shorten(message || code || `${error}`)}`, { cause: error });
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

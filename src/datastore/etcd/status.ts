// etcd's answers that are no answers: gRPC status and message to the one error of the datastores.
import { type ServiceError, status } from "@grpc/grpc-js";
import { DatastoreError, type DatastoreErrorCode } from "../errors.ts";

const byMessage: readonly { says: RegExp; code: DatastoreErrorCode }[] = [
  { says: /required revision has been compacted/, code: "expired" },
  { says: /required revision is a future revision/, code: "too-large-revision" },
  {
    says: /invalid auth token|user name is empty|authentication failed|revision of auth store is old/,
    code: "unauthorized",
  },
  { says: /alert (unknown ca|bad certificate|certificate \w+|access denied)/, code: "unauthorized" }, // our certificate
  { says: /permission denied/, code: "forbidden" },
  { says: /too many requests/, code: "rate-limited" },
  { says: /larger than max/, code: "invalid" }, // asking again would bring the same answer
  { says: /database space exceeded/, code: "unavailable" },
];

const byStatus: { readonly [code: number]: DatastoreErrorCode } = {
  [status.UNAUTHENTICATED]: "unauthorized",
  [status.PERMISSION_DENIED]: "forbidden",
  [status.INVALID_ARGUMENT]: "invalid",
  [status.OUT_OF_RANGE]: "invalid",
  [status.UNIMPLEMENTED]: "unsupported",
  [status.RESOURCE_EXHAUSTED]: "rate-limited",
};

/** Everything without a more precise meaning is "unavailable": who asks again loses nothing. */
export function toDatastoreError(error: unknown, doing: string): DatastoreError {
  if (error instanceof DatastoreError) return error;
  const { code, details } = isServiceError(error) ? error : { code: undefined, details: String(error) };
  const meaning = codeOf(code, details);
  // A follower counts an "unavailable" with a status as the server's own refusal. gRPC gives a status to a connection
  // that broke as well, so it would say nothing.
  const isRefusal = code !== undefined && meaning !== "unavailable";
  const says = details.replace(/ Resolution note: *$/, ""); // gRPC's label for a note that there is not
  return new DatastoreError(meaning, `${doing}: ${says}`, { cause: error, ...(isRefusal ? { status: code } : {}) });
}

/** A watch ends with a reason in words only. */
export function cancelReasonToError(reason: string, doing: string): DatastoreError {
  return new DatastoreError(
    codeOf(undefined, reason),
    `${doing}: ${reason === "" ? "cancelled by the server" : reason}`,
  );
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "details" in error;
}

/** The answer would not fit into the largest message we take. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof DatastoreError && /larger than max/.test(error.message);
}

/** The server does not know our token any more: it expired, or the server restarted, or users changed. */
export function isTokenRefused(error: unknown): boolean {
  return /invalid auth token|revision of auth store is old/.test(error instanceof Error ? error.message : "");
}

function codeOf(grpcStatus: number | undefined, message: string): DatastoreErrorCode {
  const known = byMessage.find(({ says }) => says.test(message));
  return known?.code ?? (grpcStatus === undefined ? undefined : byStatus[grpcStatus]) ?? "unavailable";
}

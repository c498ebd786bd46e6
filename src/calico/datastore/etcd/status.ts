// etcd's answers that are no answers: gRPC status and message to the one error of the datastores.

import { GrpcError, grpcStatus } from "../../../base/grpc/index.ts";
import { messageOf } from "../../../base/lib/index.ts";
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
  [grpcStatus.unauthenticated]: "unauthorized",
  [grpcStatus.permissionDenied]: "forbidden",
  [grpcStatus.invalidArgument]: "invalid",
  [grpcStatus.outOfRange]: "invalid",
  [grpcStatus.unimplemented]: "unsupported",
  [grpcStatus.resourceExhausted]: "rate-limited",
};

/** Everything without a more precise meaning is "unavailable": who asks again loses nothing. */
export function toDatastoreError(error: unknown, doing: string): DatastoreError {
  if (error instanceof DatastoreError) return error;
  const code = error instanceof GrpcError ? error.code : undefined;
  const says = messageOf(error);
  const meaning = codeOf(code, says);
  // A follower counts an "unavailable" with a status as the server's own refusal. gRPC has a status for a connection
  // that broke as well, so it would say nothing.
  const isRefusal = code !== undefined && meaning !== "unavailable";
  return new DatastoreError(meaning, `${doing}: ${says}`, { cause: error, ...(isRefusal ? { status: code } : {}) });
}

/** A watch ends with a reason in words only. */
export function cancelReasonToError(reason: string, doing: string): DatastoreError {
  return new DatastoreError(
    codeOf(undefined, reason),
    `${doing}: ${reason === "" ? "cancelled by the server" : reason}`,
  );
}

export function isAuthSwitchedOff(error: unknown): boolean {
  return error instanceof GrpcError && /authentication is not enabled/.test(error.message);
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

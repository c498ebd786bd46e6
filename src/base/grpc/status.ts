// How a gRPC call ended, from what HTTP/2 says of its end.

export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  permissionDenied: 7,
  resourceExhausted: 8,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The other side's refusal, or what stands for one. */
export class GrpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export type CallEnd = {
  /** Of the response: its `:status`, and where there was nothing to answer, what trailers have. */
  readonly headers: { readonly [name: string]: unknown } | undefined;
  readonly trailers: { readonly [name: string]: unknown } | undefined;
  /** What the stream itself failed with. */
  readonly error: unknown;
  readonly resetCode: number;
};

// What a proxy between us and the server answers in its place, as gRPC's own documents translate it.
const byHttpStatus: { readonly [status: number]: number } = {
  400: grpcStatus.internal,
  401: grpcStatus.unauthenticated,
  403: grpcStatus.permissionDenied,
  404: grpcStatus.unimplemented,
  429: grpcStatus.unavailable,
  502: grpcStatus.unavailable,
  503: grpcStatus.unavailable,
  504: grpcStatus.unavailable,
};

/** Undefined: it ended well. */
export function errorOfEnd({ headers, trailers, error, resetCode }: CallEnd): unknown {
  const said = trailers ?? headers;
  const status = said?.["grpc-status"];
  if (status !== undefined) {
    const code = Number(status);
    if (code === 0) return undefined;
    return new GrpcError(Number.isInteger(code) ? code : grpcStatus.unknown, readMessage(said?.["grpc-message"]));
  }
  if (error !== undefined) return error;
  const httpStatus = Number(headers?.[":status"] ?? 200);
  if (httpStatus !== 200) {
    return new GrpcError(byHttpStatus[httpStatus] ?? grpcStatus.unknown, `answered with the HTTP status ${httpStatus}`);
  }
  return new GrpcError(grpcStatus.unavailable, `the stream ended without a status (HTTP/2 code ${resetCode})`);
}

/** Percent-encoded; a message that is not, as some proxies write it, is better shown as it is than lost. */
function readMessage(text: unknown): string {
  try {
    return decodeURIComponent(String(text ?? ""));
  } catch {
    return String(text);
  }
}

// Why a request for addresses got none. The sentence is the original's, because it reaches users through the CNI plugin; the code is
// ours. What a datastore says is thrown as it is (ResourceError).
import type { AssignResult, NamedResult } from "../ipam/index.ts";

export type IpamErrorCode =
  | (AssignResult & { readonly is: "refused" })["reason"]
  | (NamedResult & { readonly is: "refused" })["reason"]
  | "too-few" // fewer addresses than asked for; what was taken has been given back
  | "busy" // somebody else was faster, a hundred times
  | "bad-config" // settings that exclude each other
  | "bad-range"; // a CIDR that is none, is outside all pools, or is smaller than a block

export class IpamError extends Error {
  readonly code: IpamErrorCode;
  /** What a person can do about it. */
  readonly next: string | undefined;

  constructor(
    code: IpamErrorCode,
    message: string,
    options: { readonly next?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "IpamError";
    this.code = code;
    this.next = options.next;
  }
}

export function isIpamError(error: unknown, ...codes: IpamErrorCode[]): error is IpamError {
  return error instanceof IpamError && (codes.length === 0 || codes.includes(error.code));
}

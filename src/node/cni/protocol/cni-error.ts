// Why a CNI plugin could not do what it was asked: JSON on standard output and exit status 1. Codes below 100 are the protocol's, 100
// says that a datastore does not answer, 999 is everything else; the runtime shows `msg` and `details` to the user of the pod.

export const cniErrorCodes = {
  incompatibleVersion: 1,
  environment: 4,
  io: 5,
  decode: 6,
  configuration: 7,
  ownNamespace: 8,
  tryLater: 11,
  notAvailable: 50,
  connection: 100,
  other: 999,
} as const;

export class CniError extends Error {
  readonly code: number;
  readonly details: string | undefined;

  constructor(code: number, message: string, options: { readonly details?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CniError";
    this.code = code;
    this.details = options.details;
  }
}

/** What is known beside its words of an error of the layers below: what to do, and the right that is missing. */
type Advised = Error & { readonly next?: string | undefined; readonly missingRule?: string | undefined };

export function toCniError(error: unknown): CniError {
  if (error instanceof CniError) return error;
  if (!(error instanceof Error)) return new CniError(cniErrorCodes.other, String(error));
  const { next, missingRule } = error as Advised;
  const rule =
    missingRule === undefined ? undefined : `add this rule to the role of this account:\n${missingRule.trimEnd()}`;
  const details = rule ?? next;
  const { problem } = error as { readonly problem?: unknown }; // a CattailError's message has the advice in it
  const message = typeof problem === "string" ? problem : error.message;
  return new CniError(cniErrorCodes.other, message, { cause: error, ...(details === undefined ? {} : { details }) });
}

export function cniErrorJson({ code, message, details }: CniError): string {
  return JSON.stringify(
    { code, msg: message, ...(details === undefined || details === "" ? {} : { details }) },
    null,
    4,
  );
}

// Why a pod cannot be plugged in or unplugged, in the original's words where people look for them: a runtime shows the message to the
// pod's user.

export class EndpointError extends Error {
  /** The CNI protocol's number. */
  readonly cniCode: number;
  /** What to do next. */
  readonly next: string | undefined;

  constructor(
    message: string,
    options: { readonly cniCode?: number; readonly next?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EndpointError";
    this.cniCode = options.cniCode ?? 999;
    this.next = options.next;
  }
}

// What a command of ctl sees of the process that it runs in, and how it says that it has failed. A command never touches
// `process`: tests hand it a console of their own, and what the original prints can be compared to the letter.

export type Console = {
  /** As it stands: whoever wants a new line writes it. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly readStdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads the output. */
  readonly isTerminal: boolean;
  /** Aborted by SIGINT and SIGTERM, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
};

export type CtlErrorOptions = ErrorOptions & { readonly stream?: "stdout" | "stderr"; readonly exitCode?: number };

/** Ends the command with exit code 1 and this text, printed once and as it stands, as released programs of the original do. */
export class CtlError extends Error {
  /** Four of the original's errors stand on standard output, and scripts look for them there. */
  readonly stream: "stdout" | "stderr";
  /** 1 everywhere but in diff, where that means something else. */
  readonly exitCode: number;
  constructor(message: string, options: CtlErrorOptions = {}) {
    super(message, options);
    this.name = "CtlError";
    this.stream = options.stream ?? "stderr";
    this.exitCode = options.exitCode ?? 1;
  }
}

// What -f names, as v3 objects: a file, a folder, or standard input. Everything is read and checked before anything is
// handed out, because nothing is written unless all of it could be read.
import type { ApiKind, V3Object } from "../../../calico/resources/index.ts";
import { type Console, CtlError } from "../console.ts";

export type InputOptions = {
  /** A file, a folder, or "-". */
  readonly filename: string;
  /** -R */
  readonly isRecursive: boolean;
  /** --skip-empty: files without objects are passed over, and no object at all is an answer. */
  readonly skipsEmpty: boolean;
};

/** Where an object begins. */
export type Place = { readonly file: string; readonly line: number };

export type InputObject = {
  readonly kind: ApiKind;
  /** As its kind's schema reads it. The name may be missing: the write says so. */
  readonly object: V3Object;
  readonly place: Place;
};

/**
 * The input cannot be used. `message` is what ends create, apply, replace, delete and validate; where there is nothing to
 * do (`isEmpty`), get puts "failed to get resources: " in front.
 */
export class InputError extends CtlError {
  readonly isEmpty: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isEmpty: boolean }) {
    super(message, options);
    this.name = "InputError";
    this.isEmpty = options.isEmpty;
  }
}

/** In the order of the input. No object: only with --skip-empty. Throws InputError. */
export async function readInput(
  { filename }: InputOptions,
  _console: Pick<Console, "isTerminal" | "readStdin">,
): Promise<readonly InputObject[]> {
  throw new InputError(`failed to execute command: ${filename} cannot be read yet`, { isEmpty: false });
}

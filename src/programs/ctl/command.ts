// What a command of ctl is: a row of the table in commands.ts. Help, the parser, completion and docs/reference/ctl.md are
// loops over that table; `load` brings the code, so that `get` does not pay for `ipam check`.
import type { Connection } from "./connection.ts";
import type { Console } from "./console.ts";

export type Flag = {
  readonly name: string;
  readonly short?: string;
  /** A second letter, which the original takes and does not show. */
  readonly alsoShort?: string;
  /** What stands for the value in the help: FILE, NAMESPACE. A flag without one is a switch. */
  readonly value?: string;
  /** A value that must be a whole number; what else it must be, the command says. */
  readonly isNumber?: true;
  readonly default?: string;
  readonly isRepeatable?: true;
  readonly says: string;
};

/** How many words may stand beside the flags; the original's words for too few or too many are made from it. */
export type Words =
  | { readonly takes: "any" }
  | { readonly takes: "exactly"; readonly count: number }
  | { readonly takes: "at least"; readonly count: number };

export type CtlCommand = {
  /** ["ipam", "show"] */
  readonly path: readonly string[];
  readonly says: string;
  /** As the usage line shows it: "[KIND [NAME...]]". */
  readonly wordsUsage?: string;
  readonly words: Words;
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Whether the cluster's version is compared before anything else (spec of the original, section 14). */
  readonly checksVersion: boolean;
  readonly load: () => Promise<Run>;
};

/** What was typed, read by the table. */
export type Invocation = {
  readonly command: CtlCommand;
  readonly words: readonly string[];
  /** Of a switch: on. Of another flag: given. */
  readonly isSet: (flag: string) => boolean;
  /** The last one given, or the flag's default. */
  readonly value: (flag: string) => string | undefined;
  readonly values: (flag: string) => readonly string[];
  /**
   * The one connection of this run, which is closed after it. Where the command checks the cluster's version, that has
   * happened on it before the command's code runs. Throws, in the original's words, what is wrong with the configuration.
   */
  readonly connect: () => Promise<Connection>;
};

/** Answers the exit code. Throws CtlError, ResourceError or DatastoreError for what ends the command. */
export type Run = (invocation: Invocation, console: Console) => Promise<number>;

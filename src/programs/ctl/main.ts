// `cattail ctl`: from the words that were typed to a command of commands.ts, and from what it throws to what is printed.
//
//   find the command ▸ read its flags ▸ help? ▸ count its words ▸ log level ▸ compare versions ▸ run ▸ close the connection
//
// Nothing is loaded that the command does not need, the library for command lines of the other programs included: a person
// types `get` a hundred times a day.
import type { CtlCommand } from "./command.ts";
import { sayFailure } from "./command-line/fail.ts";
import { childrenOf, findCommand } from "./command-line/find-command.ts";
import { globalFlags, helpFlag } from "./command-line/flags.ts";
import { isLogged, type LogLevel, readLogLevel } from "./command-line/log-level.ts";
import { isTrue, parseFlags } from "./command-line/parse-flags.ts";
import { commands } from "./commands.ts";
import { type Console, CtlError } from "./console.ts";
import { runCommand, type Understood } from "./run-command.ts";

export type CtlOptions = {
  /** As help says it: "cattail ctl", or "calicoctl" through a link. */
  readonly program: string;
  /** Of this build, for the words of a version mismatch. */
  readonly version: () => string;
};

/** Answers the exit code; prints everything itself. */
export async function runCtl(words: readonly string[], console: Console, options: CtlOptions): Promise<number> {
  let logLevel: LogLevel = "panic";
  try {
    const asked = await understand(words, console, options);
    if (typeof asked === "number") return asked;
    logLevel = asked.logLevel;
    return await runCommand(asked, console, options.version);
  } catch (error) {
    const interrupted = console.signal.aborted ? console.signal.reason : undefined;
    // A command that was interrupted while it wrote says how far it came.
    if (interrupted === undefined || error instanceof CtlError) {
      sayFailure(error, { console, isAdviceRead: console.isTerminal || isLogged("warn", logLevel) });
    }
    if (interrupted !== undefined) return typeof interrupted === "number" ? interrupted : 1;
    return error instanceof CtlError ? error.exitCode : 1;
  }
}

/** A number: there is nothing to run, and this is the exit code. */
async function understand(
  words: readonly string[],
  console: Console,
  { program }: CtlOptions,
): Promise<Understood | number> {
  const isHelp = words[0] === "help";
  const { path, command, unknown, args } = findCommand(isHelp ? words.slice(1) : words, commands);
  const isHelpFlag = args.some((arg) => arg === "-h" || arg === "--help");
  // A slip of the pen is told as such, before anybody complains about its flags; of other words the flags are read first, as the original does.
  if (unknown !== undefined && !isHelpFlag && (await isNearACommand(unknown, path)))
    await refuseWord(unknown, program, path);
  const parsed = parseFlags(args, [...(command?.flags ?? []), ...globalFlags, helpFlag]);
  const { given } = parsed;
  if (unknown !== undefined && !isHelpFlag) await refuseWord(unknown, program, path);
  const isHelpAsked = isHelp || isTrue(given.get("help")?.at(-1));
  if (command === undefined || isHelpAsked) {
    const { helpText } = await import("./command-line/help.ts");
    console.out(await helpText(program, path, command));
    return 0;
  }
  countWords(command, parsed.words.length);
  return { command, ...parsed, logLevel: readLogLevel(given.get("log-level")?.at(-1) ?? "panic") };
}

async function isNearACommand(word: string, path: readonly string[]): Promise<boolean> {
  const { suggestion } = await import("./command-line/suggest.ts");
  return suggestion(word, childrenOf(commands, path)) !== "";
}

async function refuseWord(word: string, program: string, path: readonly string[]): Promise<never> {
  const { suggestion } = await import("./command-line/suggest.ts");
  const name = [program, ...path].join(" ");
  const said = suggestion(word, childrenOf(commands, path)) || `\nRun "${name} --help" to see the commands.`;
  throw new CtlError(`unknown command "${word}" for "${name}"${said}`);
}

function countWords({ words }: CtlCommand, count: number): void {
  if (words.takes === "exactly" && count !== words.count)
    throw new CtlError(`accepts ${words.count} arg(s), received ${count}`);
  if (words.takes === "at least" && count < words.count)
    throw new CtlError(`requires at least ${words.count} arg(s), only received ${count}`);
}

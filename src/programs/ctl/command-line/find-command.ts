// Which command a line asks for. Flags may stand before the command's name (`--context c get nodes`), so words are looked at
// with the values of flags left out; what the flags are is read afterwards, by the command's own table.
import type { CtlCommand, Flag } from "../command.ts";
import { globalFlags, helpFlag } from "./flags.ts";

export type Found = {
  /** As far as the words led: [] is ctl itself, ["ipam"] a group, or a command's path. */
  readonly path: readonly string[];
  readonly command: CtlCommand | undefined;
  /** A word where a command should stand, and none of that name is there. */
  readonly unknown: string | undefined;
  /** Everything that was typed, without the words of the path. */
  readonly args: readonly string[];
};

export function findCommand(args: readonly string[], commands: readonly CtlCommand[]): Found {
  const taken = new Set<number>();
  let unknown: string | undefined;
  let path: readonly string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const below = commands.filter((one) => isBelow(one.path, path));
    if (below.length === 0 || arg === "--") break;
    if (arg.startsWith("-") && arg !== "-") {
      if (takesNext(arg, below)) at++;
      continue;
    }
    if (!below.some((one) => one.path[path.length] === arg)) {
      unknown = arg;
      break;
    }
    path = [...path, arg];
    taken.add(at);
  }
  const command = commands.find((one) => one.path.length === path.length && isBelowOrSame(one.path, path));
  return {
    path,
    command,
    unknown: command === undefined ? unknown : undefined,
    args: args.filter((_, at) => !taken.has(at)),
  };
}

function isBelowOrSame(path: readonly string[], above: readonly string[]): boolean {
  return above.every((word, at) => path[at] === word);
}

export function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && isBelowOrSame(path, above);
}

/** The next words after a path, in the order of the table. */
export function childrenOf(commands: readonly Pick<CtlCommand, "path">[], path: readonly string[]): string[] {
  const words = commands.filter((one) => isBelow(one.path, path)).map((one) => one.path[path.length] ?? "");
  return [...new Set(words)];
}

/** Whether the next word is this flag's value. One that nobody knows has none: its command will refuse it. */
function takesNext(arg: string, below: readonly CtlCommand[]): boolean {
  if (arg.includes("=")) return false;
  const known: readonly Flag[] = [...globalFlags, helpFlag, ...below.flatMap(({ flags }) => flags)];
  if (arg.startsWith("--")) return known.find(({ name }) => name === arg.slice(2))?.value !== undefined;
  // The first letter that takes a value takes the rest of the word, or else the next one.
  const letters = [...arg.slice(1)];
  const valued = letters.findIndex((letter) => known.find(({ short }) => short === letter)?.value !== undefined);
  return valued !== -1 && valued === letters.length - 1;
}

// What can be typed next after each part of a command line, for completion scripts.
import type { NextWords } from "../../shared/completion-script.ts";
import { commands, groups } from "../commands.ts";
import { globalFlags, helpFlag } from "./flags.ts";
import { childrenOf } from "./help.ts";

/** `above`: what stands before, "ctl" or "". */
export function ctlWords(above: string): NextWords[] {
  const long = (flags: readonly { readonly name: string }[]) => flags.map(({ name }) => `--${name}`);
  const common = long([...globalFlags, helpFlag]);
  const at = (path: readonly string[]) => [above, ...path].join(" ").trim();
  return [
    ...[[], ...groups.map(({ path }) => path)].map((path) => ({
      path: at(path),
      words: [...childrenOf(path), ...common],
    })),
    ...commands.map(({ path, flags }) => ({ path: at(path), words: [...long(flags), ...common] })),
  ];
}

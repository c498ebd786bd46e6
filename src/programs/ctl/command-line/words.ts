// What can be typed next after each part of a command line, for completion scripts.
import type { NextWords } from "../../shared/completion-script.ts";
import type { CtlCommand } from "../command.ts";
import { childrenOf } from "./find-command.ts";
import { globalFlags, helpFlag } from "./flags.ts";
import { kindPlurals, takesKind } from "./kind-names.ts";

export type Table = {
  readonly commands: readonly CtlCommand[];
  readonly groups: readonly { readonly path: readonly string[] }[];
};

/** `above`: what stands before, "ctl" or "". */
export function nextWords({ commands, groups }: Table, above: string): NextWords[] {
  const long = (flags: readonly { readonly name: string }[]) => flags.map(({ name }) => `--${name}`);
  const common = long([...globalFlags, helpFlag]);
  const at = (path: readonly string[]) => [above, ...path].join(" ").trim();
  return [
    ...[[], ...groups.map(({ path }) => path)].map((path) => ({
      path: at(path),
      words: [...childrenOf(commands, path), ...common],
    })),
    ...commands.map((command) => ({
      path: at(command.path),
      words: [...(takesKind(command) ? kindPlurals() : []), ...long(command.flags), ...common],
    })),
  ];
}

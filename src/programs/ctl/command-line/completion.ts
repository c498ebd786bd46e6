// `ctl completion SHELL`: for those who call ctl by a link named calicoctl; `cattail completion` has the words of ctl, too.
import { completionScript, isShell, shells } from "../../shared/completion-script.ts";
import type { Run } from "../command.ts";
import { CtlError } from "../console.ts";
import { nextWords, type Table } from "./words.ts";

/** The table is handed in: it has this command among its rows. */
export function completionOf(table: Table): Run {
  return async ({ words }, console) => {
    const [shell = ""] = words;
    if (!isShell(shell))
      throw new CtlError(`unknown shell ${JSON.stringify(shell)}, expected one of: ${shells.join(", ")}`);
    console.out(`${completionScript(shell, "calicoctl", nextWords(table, ""))}\n`);
    return 0;
  };
}

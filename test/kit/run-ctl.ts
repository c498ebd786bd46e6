// A command of ctl inside the test's process, with what it printed on each stream.
import type { Console } from "../../src/programs/ctl/console.ts";
import { runCtl } from "../../src/programs/ctl/main.ts";

export type CtlRun = { readonly rc: number; readonly out: string; readonly err: string };

export type CtlRunOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
  /** Called with everything that has been printed so far on standard output, after each print. */
  readonly onOut?: (out: string) => void;
};

export async function ctl(words: readonly string[], options: CtlRunOptions): Promise<CtlRun> {
  let out = "";
  let err = "";
  const console: Console = {
    out: (text) => {
      out += text;
      options.onOut?.(out);
    },
    err: (text) => {
      err += text;
    },
    readStdin: async () => options.stdin ?? "",
    env: options.env,
    isTerminal: options.isTerminal ?? false,
    signal: options.signal ?? new AbortController().signal,
  };
  const rc = await runCtl(words, console, { program: "cattail ctl", version: () => "v3.33.0" });
  return { rc, out, err };
}

// A console of ctl that keeps what is written, for tests that run a command without a process.
import type { Console } from "../../src/programs/ctl/console.ts";

export type Said = { readonly out: string; readonly err: string };

export type RecordedOptions = {
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
};

export function recordedConsole(options: RecordedOptions = {}): { console: Console; said: () => Said } {
  const { env = {}, stdin = "", isTerminal = false, signal = new AbortController().signal } = options;
  const out: string[] = [];
  const err: string[] = [];
  return {
    console: {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      readStdin: async () => stdin,
      env,
      isTerminal,
      signal,
    },
    said: () => ({ out: out.join(""), err: err.join("") }),
  };
}

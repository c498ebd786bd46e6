// The console of a real process, and the start of ctl in it.
import { basename } from "node:path";
import { version } from "../shared/build.ts";
import type { Console } from "./console.ts";
import { runCtl } from "./main.ts";

/** Sets the exit code; what is written may still be on its way when this resolves. */
export async function startCtl(words: readonly string[]): Promise<void> {
  const console = processConsole();
  process.exitCode = await runCtl(words, console, { program: programName(), version });
}

/** As the person has typed it, who is told to type more of the kind. */
function programName(): string {
  const names = [process.argv0, process.argv[1] ?? ""].map((name) => basename(name));
  if (names.includes("calicoctl")) return "calicoctl";
  return names.includes("calico") ? "calico ctl" : "cattail ctl";
}

/** 128 and the signal's number, as a shell says it. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

function processConsole(): Console {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort(exitCodes[signal])); // a second one ends the process
  // A reader who has gone (head, for one) wanted no more; whatever still runs for them need not.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") stopping.abort(0);
  });
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readStdin,
    env: process.env,
    get isTerminal() {
      return process.stderr.isTTY === true;
    },
    signal: stopping.signal,
  };
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

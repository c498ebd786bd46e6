// The console of a real process, and the start of ctl in it.
import { fstatSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { CattailError, isRecord, messageOf, plainText } from "../../base/lib/index.ts";
import { version } from "../shared/build.ts";
import { fail } from "../shared/fail.ts";
import { type Console, CtlError } from "./console.ts";
import { runCtl } from "./main.ts";

/** Sets the exit code. */
export async function startCtl(words: readonly string[]): Promise<void> {
  const stopping = new AbortController();
  const output = new Output(() => stopping.abort(0)); // a reader who has gone (head, for one) wanted no more
  const code = await runCtl(words, processConsole(output, stopping), { program: programName(), version });
  process.exitCode = code;
  await output.written();
  if (output.problem === undefined) return;
  process.exitCode = 1; // whatever the command thinks it has done
  fail(
    new CattailError("OUTPUT_UNWRITABLE", {
      problem: `standard output cannot be written (${messageOf(output.problem)})`,
      next: "Free space on the disk, or write the output to another place",
      cause: output.problem,
    }),
  );
}

/** As the person has typed it, who is told to type more of the kind. */
function programName(): string {
  const names = [process.argv0, process.argv[1] ?? ""].map((name) => basename(name));
  if (names.includes("calicoctl")) return "calicoctl";
  return names.includes("calico") ? "calico ctl" : "cattail ctl";
}

/** 128 and the signal's number, as a shell says it. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

function processConsole(output: Output, stopping: AbortController): Console {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort(exitCodes[signal])); // a second one ends the process
  return {
    // What users have written into objects, files and names stands in what is said: a terminal must not obey it. A file or a program gets it as it is.
    out: isScreen() ? (text) => output.write(plainText(text)) : (text) => output.write(text),
    err: (text) => void process.stderr.write(plainText(text)),
    readStdin,
    env: process.env,
    get isTerminal() {
      return process.stderr.isTTY === true;
    },
    signal: stopping.signal,
  };
}

/** A terminal, or a device like it: to ask for a terminal costs as much as Node's stream. */
function isScreen(): boolean {
  try {
    return fstatSync(1).isCharacterDevice();
  } catch {
    return false; // there is no standard output, and who writes to it will hear of it
  }
}

/**
 * Standard output, written at once: Node's stream takes 3 ms to make, and a command that has printed is over. A pipe that
 * cannot take more now, which is rare (somebody has set it so), is left to the stream.
 */
class Output {
  readonly #onGone: () => void;
  #state: "direct" | "stream" | "closed" = "direct";
  /** Why what was written is not all there; a reader who has gone is none. */
  problem: unknown;

  constructor(onGone: () => void) {
    this.#onGone = onGone;
  }

  write(text: string): void {
    if (this.#state === "stream") process.stdout.write(text);
    if (this.#state !== "direct") return;
    let rest = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (isRecord(error) && error.code === "EAGAIN") {
        this.#state = "stream";
        process.stdout.on("error", (late) => this.#failed(late)).write(rest);
      } else {
        this.#failed(error);
      }
    }
  }

  /** Resolves when everything is there, or never will be. */
  async written(): Promise<void> {
    if (this.#state === "stream") await new Promise((resolve) => process.stdout.write("", resolve));
  }

  #failed(error: unknown): void {
    this.#state = "closed";
    // A reader at the other end of a socket, which other programs of Node give for output, goes with ECONNRESET.
    if (isRecord(error) && (error.code === "EPIPE" || error.code === "ECONNRESET")) this.#onGone();
    else this.problem ??= error;
  }
}

/** As much as a file may have (input/read-input.ts). */
const mostInputBytes = 256 * 1024 * 1024;

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostInputBytes) throw new CtlError("standard input has more than 256 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

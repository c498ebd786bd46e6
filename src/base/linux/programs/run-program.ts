// Runs a program to its end, with limits on time and output, and says what went wrong in the program's own last words. No shell: an argument is
// an argument, whatever is in it.
//
//   spawn (in a process group of its own, in the namespace that was asked for) ─▶ exit ─▶ output closed ─▶ result
//        └─ time is up, too much output, or the signal ─▶ SIGTERM to the group ─▶ SIGKILL after killAfterMs
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { CattailError, plainText } from "../../lib/index.ts";
import { errnoOf, reasonOf } from "../files/errno.ts";
import { inNamespace } from "../namespaces/network-namespace.ts";

export type RunProgramOptions = {
  readonly stdin?: string | Uint8Array;
  /** Instead of this process's variables. PATH is where a program without a slash is looked for. */
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number;
  readonly maxOutputBytes?: number;
  readonly killAfterMs?: number;
  /** The path of the network namespace that it runs in. */
  readonly namespace?: string | undefined;
  /** Exit codes that are no error, beside 0. */
  readonly alsoGood?: readonly number[];
};

export type ProgramResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
type End = { readonly code: number | null; readonly killedBy: NodeJS.Signals | null };
/** Why it was ended before its time. */
type Stopped = { readonly is: "late" } | { readonly is: "too much" } | { readonly is: "aborted" };

const keptStderrBytes = 64 * 1024;
const linesInError = 10;
const outputAfterExitMs = 500;

export async function runProgram(
  program: string,
  args: readonly string[] = [],
  options: RunProgramOptions = {},
): Promise<ProgramResult> {
  const { limitMs = 30_000, maxOutputBytes = 16 << 20, signal } = options;
  signal?.throwIfAborted();
  const child = start(program, args, options);
  let stopped: Stopped | undefined;
  const stop = (why: Stopped): void => {
    if (stopped !== undefined) return;
    stopped = why;
    endGroup(child, options.killAfterMs ?? 2_000);
  };
  const timer = setTimeout(() => stop({ is: "late" }), limitMs);
  const onAbort = () => stop({ is: "aborted" });
  signal?.addEventListener("abort", onAbort, { once: true });
  const onExit = () => killGroup(child, "SIGKILL"); // ours: nobody would wait for it any more
  process.once("exit", onExit);
  const stdout = gather(child.stdout, maxOutputBytes, () => stop({ is: "too much" }));
  const stderr = keepLast(child.stderr, keptStderrBytes);
  try {
    feed(child, options.stdin);
    const end = await ended(child, program);
    const words = stderr();
    if (stopped !== undefined) throw stoppedError(program, stopped, { limitMs, maxOutputBytes, signal, words });
    if (end.code === null || (end.code !== 0 && !options.alsoGood?.includes(end.code))) {
      throw failed(program, end, words === "" ? stdout() : words);
    }
    return { code: end.code, stdout: stdout(), stderr: words };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    process.removeListener("exit", onExit);
  }
}

function start(program: string, args: readonly string[], options: RunProgramOptions): Child {
  const { env, cwd, namespace } = options;
  const file = program.includes("/") ? program : inPath(program, (env ?? process.env).PATH ?? "");
  const run = (): Child =>
    spawn(file, args, {
      argv0: program,
      detached: true, // a group of its own, so that its children end with it
      stdio: ["pipe", "pipe", "pipe"],
      ...(env === undefined ? {} : { env }),
      ...(cwd === undefined ? {} : { cwd }),
    });
  try {
    // A child begins in the namespace of the thread that starts it, and starting is synchronous.
    return namespace === undefined ? run() : inNamespace(namespace, run);
  } catch (error) {
    throw error instanceof CattailError ? error : notFound(program, error);
  }
}

// Not left to the kernel: it answers EACCES for a folder of PATH that this user may not enter, and an empty entry means the folder
// that one happens to be in, where anybody may have put a program.
function inPath(program: string, path: string): string {
  for (const folder of path.split(":").filter((each) => each.startsWith("/"))) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not in this one.
    }
  }
  throw new CattailError("PROGRAM_NOT_FOUND", {
    problem: `${program} is in no folder of PATH (${path})`,
    next: "Install it, or add its folder to PATH",
  });
}

/** When it has ended and said all it had to say. Something it left running may hold its output open: that is not waited for. */
function ended(child: Child, program: string): Promise<End> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(notFound(program, error)));
    child.once("exit", (code, killedBy) => {
      const leave = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, outputAfterExitMs);
      child.once("close", () => {
        clearTimeout(leave);
        resolve({ code, killedBy });
      });
    });
  });
}

function feed(child: Child, stdin: string | Uint8Array | undefined): void {
  child.stdin.on("error", () => undefined); // it does not have to read what it is given
  child.stdin.end(stdin ?? "");
}

function gather(stream: Readable, maxBytes: number, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("error", () => undefined); // destroyed by us
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function keepLast(stream: Readable, maxBytes: number): () => string {
  let kept = Buffer.alloc(0);
  stream.on("error", () => undefined); // destroyed by us
  stream.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-maxBytes);
  });
  return () => kept.toString("utf8");
}

function endGroup(child: Child, killAfterMs: number): void {
  killGroup(child, "SIGTERM");
  const timer = setTimeout(() => killGroup(child, "SIGKILL"), killAfterMs);
  child.once("close", () => {
    clearTimeout(timer);
    killGroup(child, "SIGKILL"); // what it started and did not end
  });
}

function killGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The whole group has ended.
  }
}

function stoppedError(
  program: string,
  stopped: Stopped,
  how: { limitMs: number; maxOutputBytes: number; signal: AbortSignal | undefined; words: string },
): unknown {
  if (stopped.is === "aborted") return how.signal?.reason;
  if (stopped.is === "late") {
    return new CattailError("PROGRAM_TIMEOUT", {
      problem: `${program} did not end within ${how.limitMs} ms and was killed${lastWords(how.words)}`,
      next: "Run it by hand to see what it waits for, or allow it more time",
    });
  }
  return new CattailError("PROGRAM_OUTPUT", {
    problem: `${program} printed more than ${how.maxOutputBytes} bytes and was killed`,
    next: "Run it by hand to see what it prints",
  });
}

function failed(program: string, { code, killedBy }: End, words: string): CattailError {
  return new CattailError("PROGRAM_FAILED", {
    problem: `${program} ${code === null ? `was killed by ${killedBy}` : `ended with exit code ${code}`}${lastWords(words)}`,
    next: "Its own words say what is wrong; run it by hand to see more",
  });
}

function lastWords(text: string): string {
  const lines = plainText(text).trimEnd().split("\n").slice(-linesInError).join("\n");
  return lines === "" ? "" : `:\n${lines}\n`;
}

function notFound(program: string, error: unknown): CattailError {
  const next =
    errnoOf(error) === "ENOENT"
      ? "Check the path, and the folder it should run in"
      : "Check that it is an executable file and that this user may run it";
  return new CattailError("PROGRAM_NOT_FOUND", {
    problem: `${program} cannot be run (${reasonOf(error)})`,
    next,
    cause: error,
  });
}

// Asks a program on this machine something, over its unix socket.
import { lstatSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { CattailError } from "../../lib/index.ts";
import { errnoOf, reasonOf } from "../files/errno.ts";
import { broken, readAnswer, readLine, writeRequest } from "./envelope.ts";

export type CallOptions = {
  /** Of the socket. */
  readonly path: string;
  readonly call: string;
  readonly body?: unknown;
  /** Connection and answer together. */
  readonly limitMs?: number;
  readonly maxAnswerBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

/** The answer's body, as the other side sent it: the caller checks what it is. Throws the other side's errors with their codes. */
export async function callProgram(options: CallOptions): Promise<unknown> {
  const { path, call, body, limitMs = 30_000, maxAnswerBytes = 16 << 20, signal } = options;
  signal?.throwIfAborted();
  checkOwner(path);
  const socket = createConnection(path);
  // Kept for the whole call: an error that nobody listens to ends the process.
  const failure = new Promise<never>((_, reject) => socket.on("error", (error) => reject(cannotConnect(path, error))));
  const timeUp = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late(path, call, limitMs)), limitMs);
    socket.once("close", () => clearTimeout(timer));
  });
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("close", () => signal?.removeEventListener("abort", onAbort));
  });
  try {
    return await Promise.race([ask(socket, writeRequest({ call, body }), maxAnswerBytes), failure, timeUp, aborted]);
  } finally {
    for (const lost of [failure, timeUp, aborted]) lost.catch(() => undefined); // the race is over
    socket.destroy();
  }
}

async function ask(socket: Socket, request: string, maxAnswerBytes: number): Promise<unknown> {
  const answer = readLine(socket, maxAnswerBytes);
  socket.write(request);
  try {
    return readAnswer(await answer);
  } catch (error) {
    // Errors of the socket are told by whoever listens for them; they come first.
    if (errnoOf(error) !== undefined && !(error instanceof CattailError)) return new Promise(() => undefined);
    throw error;
  }
}

// In a folder that others may write to, somebody else's socket could stand in for the one that is meant.
function checkOwner(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw nobody(path);
  if (!stats.isSocket()) throw broken(`${path} is not a socket`);
  const own = process.getuid?.();
  if (stats.uid === 0 || stats.uid === own) return;
  throw new CattailError("CALL_REFUSED", {
    problem: `the socket ${path} belongs to user ${stats.uid}, neither to root nor to this user`,
    next: "Check who made it; the program behind it should run as root, or as this user",
  });
}

function cannotConnect(path: string, error: Error): CattailError {
  const errno = errnoOf(error);
  if (errno === "ENOENT" || errno === "ECONNREFUSED") return nobody(path, error);
  if (errno === "EACCES" || errno === "EPERM") {
    return new CattailError("CALL_REFUSED", {
      problem: `this user may not connect to the socket ${path} (${errno})`,
      next: "Run this as root, or as the user of the program behind it",
      cause: error,
    });
  }
  return broken(`the connection to ${path} failed (${reasonOf(error)})`);
}

function nobody(path: string, cause?: unknown): CattailError {
  return new CattailError("CALL_NOBODY_LISTENS", {
    problem: `nobody listens at the socket ${path}`,
    next: "Start the program that listens there, or look in its log why it does not run",
    cause,
  });
}

function late(path: string, call: string, limitMs: number): CattailError {
  return new CattailError("CALL_TIMEOUT", {
    problem: `no answer to ${call} came from ${path} within ${limitMs} ms`,
    next: "Look in the log of the program behind it for what it is busy with",
  });
}

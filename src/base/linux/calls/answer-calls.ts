// Answers calls over a unix socket that only this user (and root) can connect to.
//
//   lock PATH.lock (one server at a time, also while a dead one's socket is still there)
//     └▶ bind in a folder that nobody else can enter ─▶ mode 0600 ─▶ rename to PATH ─▶ answer ─▶ remove PATH if it is still ours
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { CattailError, type Log, passAbort, silentLog } from "../../lib/index.ts";
import { errnoOf, reasonOf } from "../files/errno.ts";
import { FileLock, type HeldFileLock } from "../files/file-lock.ts";
import { chanceHex } from "../files/unused-name.ts";
import { type CallAnswer, type CallRequest, failedAnswer, readLine, readRequest, writeAnswer } from "./envelope.ts";

export type AnswerCallsOptions = {
  /** At most 90 bytes: the kernel's limit is 107, and the socket is made in a folder beside it. */
  readonly path: string;
  /** The signal aborts when the caller hangs up, when time is up, or when the server ends. */
  readonly answer: (request: CallRequest, signal: AbortSignal) => Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
  readonly log?: Log;
  readonly maxRequestBytes?: number;
  /** For the request to come. */
  readonly requestLimitMs?: number;
  /** For the answer to be found. */
  readonly answerLimitMs?: number;
  /** More are told to try later. */
  readonly maxConnections?: number;
  /** So long a predecessor may take to end. */
  readonly waitForLockMs?: number;
};

const longestPathBytes = 90;

/** Listens when it resolves. Disposing of it ends calls that are under way. */
export async function answerCalls(options: AnswerCallsOptions): Promise<AsyncDisposable> {
  const { path, signal } = options;
  signal?.throwIfAborted();
  if (Buffer.byteLength(path) > longestPathBytes) {
    throw cannotListen(path, `the path has more than ${longestPathBytes} bytes`);
  }
  const lock = new FileLock(`${path}.lock`);
  const held = await lockFor(lock, options);
  const calls = new Calls(options);
  const server = createServer((socket) => calls.take(socket));
  try {
    const identity = await bind(server, path);
    return new Listening({ server, calls, path, identity, lock, held, signal });
  } catch (error) {
    held[Symbol.dispose]();
    lock[Symbol.dispose]();
    throw error;
  }
}

async function lockFor(
  lock: FileLock,
  { path, signal, waitForLockMs = 2_000 }: AnswerCallsOptions,
): Promise<HeldFileLock> {
  try {
    return await lock.acquire({ limitMs: waitForLockMs, signal });
  } catch (error) {
    if (!(error instanceof CattailError)) throw error;
    throw cannotListen(path, error.problem, error);
  }
}

/** Returns which file the socket is. */
async function bind(server: Server, path: string): Promise<string> {
  const folder = join(dirname(path), `.${chanceHex(8)}`);
  const made = join(folder, "s");
  try {
    mkdirSync(folder, { mode: 0o700 });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(made, () => {
        server.off("error", reject);
        resolve();
      });
    });
    chmodSync(made, 0o600);
    renameSync(made, path); // in the place of a dead one, or of nothing; a client sees one or the other
    return identityOf(path);
  } catch (error) {
    server.close();
    throw cannotListen(path, reasonOf(error), error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Parts = {
  readonly server: Server;
  readonly calls: Calls;
  readonly path: string;
  readonly identity: string;
  readonly lock: FileLock;
  readonly held: HeldFileLock;
  readonly signal: AbortSignal | undefined;
};

class Listening implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #onAbort = () => void this[Symbol.asyncDispose]();
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { server, calls, path, identity, lock, held, signal } = this.#parts;
    signal?.removeEventListener("abort", this.#onAbort);
    if (identityOf(path) === identity) unlinkSync(path); // nobody new finds it
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    calls.end();
    await closed;
    held[Symbol.dispose]();
    lock[Symbol.dispose]();
  }
}

class Calls {
  readonly #options: AnswerCallsOptions;
  readonly #stop = new AbortController();
  readonly #sockets = new Set<Socket>();

  constructor(options: AnswerCallsOptions) {
    this.#options = options;
  }

  take(socket: Socket): void {
    const { log = silentLog, maxConnections = 256 } = this.#options;
    socket.on("error", () => undefined); // the caller has gone; readLine and write tell whoever waits
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    if (this.#sockets.size > maxConnections) {
      socket.resume(); // its end is seen only by who reads
      socket.end(writeAnswer(failedAnswer(new Error(`${maxConnections} calls are under way, which is the limit`))));
      return;
    }
    this.#converse(socket).catch((error: unknown) => {
      log.debug("a call was not answered", { error: reasonOf(error) });
      socket.destroy();
    });
  }

  end(): void {
    this.#stop.abort(new Error("the program that answers calls is ending"));
    for (const socket of this.#sockets) socket.destroy();
  }

  async #converse(socket: Socket): Promise<void> {
    const { maxRequestBytes = 1 << 20, requestLimitMs = 5_000 } = this.#options;
    const timer = setTimeout(() => socket.destroy(new Error(`no request within ${requestLimitMs} ms`)), requestLimitMs);
    let answer: CallAnswer;
    try {
      const line = await readLine(socket, maxRequestBytes);
      clearTimeout(timer);
      answer = await this.#answer(socket, line);
    } catch (error) {
      if (!(error instanceof CattailError) || error.code !== "CALL_TOO_LARGE") throw error;
      answer = failedAnswer(error);
    } finally {
      clearTimeout(timer);
    }
    if (!socket.destroyed) socket.end(writeAnswer(answer));
  }

  async #answer(socket: Socket, line: string): Promise<CallAnswer> {
    const { answer, answerLimitMs = 60_000 } = this.#options;
    const call = new AbortController();
    using _passing = passAbort(this.#stop.signal, call);
    const onClose = () => call.abort(new Error("the caller hung up"));
    socket.once("close", onClose);
    socket.resume(); // a hang-up is seen only by who reads
    const timeUp = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      timeUp.reject(new Error(`no answer was found within ${answerLimitMs} ms`));
      call.abort(new Error("time is up"));
    }, answerLimitMs);
    try {
      const body = await Promise.race([answer(readRequest(line), call.signal), timeUp.promise]);
      return { is: "done", body };
    } catch (error) {
      return failedAnswer(error);
    } finally {
      clearTimeout(timer);
      socket.off("close", onClose);
    }
  }
}

function identityOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.dev}:${stats.ino}`;
}

function cannotListen(path: string, why: string, cause?: unknown): CattailError {
  const isTaken = errnoOf(cause) === "LOCK_TIMEOUT";
  return new CattailError("CALL_LISTEN", {
    problem: `the socket ${path} cannot be listened on (${why})`,
    next: isTaken
      ? "Another process listens there: stop it first, or give this one another path"
      : "Check that its folder is there and that this user may write to it, or give another path",
    cause,
  });
}

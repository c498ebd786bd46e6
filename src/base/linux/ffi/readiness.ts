// Waits until there is something to read from a socket that Node itself cannot watch (it knows no AF_NETLINK), without blocking: by
// libuv's own uv_poll in this thread's event loop. The callback only takes a note; the work is done by setImmediate, which
// runs right after in the same turn, with everything that Node does around JavaScript.
//
//   wait() ─▶ uv_poll_start ─▶ (event loop: epoll) ─▶ callback: uv_poll_stop, setImmediate ─▶ wait() resolves
//
// In a worker thread, which aborts the process when it ends with a handle that Node does not know, and on Node 26.1 to 26.5, which does
// not tell where its loop is, the socket is looked at every 10 ms instead. docs/decisions/0019-netlink-over-ffi.md
import type * as ffiModule from "node:ffi";
import { isMainThread } from "node:worker_threads";
import { loadBuiltin } from "../load-builtin.ts";

const definitions = {
  malloc: { arguments: ["u64"], return: "pointer" },
  free: { arguments: ["pointer"], return: "void" },
  uv_handle_size: { arguments: ["i32"], return: "u64" },
  uv_poll_init: { arguments: ["pointer", "pointer", "i32"], return: "i32" },
  uv_poll_start: { arguments: ["pointer", "i32", "pointer"], return: "i32" },
  uv_poll_stop: { arguments: ["pointer"], return: "i32" },
  uv_close: { arguments: ["pointer", "pointer"], return: "void" },
} as const;

const uvPollHandle = 8; // UV_POLL in uv_handle_type
const uvReadable = 1;
const lookEveryMs = 10;

export type Readiness = Disposable & {
  /** Resolves when it is worth reading (or perhaps is: read without blocking). One wait at a time. */
  wait(): Promise<void>;
  /** Ends the wait that is under way; the promise resolves. */
  wake(): void;
};

/** To be disposed of before the descriptor is closed. */
export function readinessOf(fd: number): Readiness {
  const loop = eventLoop();
  return loop === undefined ? new LookingNowAndThen() : new LoopPoll(loop, fd);
}

type EventLoop = {
  readonly functions: ReturnType<typeof open>["functions"];
  readonly at: bigint;
  readonly onReadable: bigint;
  readonly onClosed: bigint;
  /** By the address of their handle. */
  readonly polls: Map<bigint, LoopPoll>;
};

let known: { readonly loop: EventLoop | undefined } | undefined; // one for each thread, as its event loop is

function eventLoop(): EventLoop | undefined {
  known ??= { loop: findEventLoop() };
  return known.loop;
}

function open(ffi: typeof ffiModule) {
  return ffi.dlopen(null, definitions);
}

function findEventLoop(): EventLoop | undefined {
  const ffi = loadBuiltin<typeof ffiModule>("node:ffi");
  if (!isMainThread || typeof ffi.getCurrentEventLoop !== "function") return undefined;
  const { lib, functions } = open(ffi);
  const polls = new Map<bigint, LoopPoll>();
  const onReadable = lib.registerCallback({ arguments: ["pointer", "i32", "i32"], return: "void" }, (handle) => {
    polls.get(BigInt(handle as bigint))?.noticed();
  });
  const onClosed = lib.registerCallback({ arguments: ["pointer"], return: "void" }, (handle) => {
    functions.free(handle as bigint);
  });
  // Node's own last turn of the loop must not call into a program that has ended.
  process.once("exit", () => {
    for (const poll of polls.values()) poll.stop();
  });
  return { functions, at: ffi.getCurrentEventLoop(), onReadable, onClosed, polls };
}

class LoopPoll implements Readiness {
  readonly #loop: EventLoop;
  readonly #handle: bigint;
  #resolve: (() => void) | undefined;
  #isClosed = false;

  constructor(loop: EventLoop, fd: number) {
    this.#loop = loop;
    this.#handle = loop.functions.malloc(loop.functions.uv_handle_size(uvPollHandle));
    const failed = loop.functions.uv_poll_init(loop.at, this.#handle, fd);
    if (failed !== 0) {
      loop.functions.free(this.#handle);
      throw new Error(`uv_poll_init of descriptor ${fd}: ${failed}`);
    }
    loop.polls.set(this.#handle, this);
  }

  wait(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#loop.functions.uv_poll_start(this.#handle, uvReadable, this.#loop.onReadable);
    });
  }

  /** Called by libuv. */
  noticed(): void {
    this.stop();
    setImmediate(() => this.wake());
  }

  wake(): void {
    this.stop();
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.();
  }

  stop(): void {
    if (!this.#isClosed) this.#loop.functions.uv_poll_stop(this.#handle);
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.wake();
    this.#isClosed = true;
    this.#loop.polls.delete(this.#handle);
    this.#loop.functions.uv_close(this.#handle, this.#loop.onClosed);
  }
}

class LookingNowAndThen implements Readiness {
  #timer: NodeJS.Timeout | undefined;
  #resolve: (() => void) | undefined;

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(() => this.wake(), lookEveryMs);
    });
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#resolve?.();
    this.#resolve = undefined;
  }

  [Symbol.dispose](): void {
    this.wake();
  }
}

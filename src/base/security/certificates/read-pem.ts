// PEM from a path that a person named. It may lead to anything: a pipe that nobody writes to, a device that never ends, a
// disk image. Opened without waiting and read up to a bound, so that no path can hold the command up.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CattailError } from "../../lib/index.ts";

/** Bundles of all public CAs are a quarter of it. */
const mostBytes = 1 << 20;
/** How long a pipe may take, as in `certs inspect <(kubectl get secret ...)`. */
const pipePatienceMs = 10_000;
const pipePauseMs = 20;

/** A certificate or key in a file, as text. */
export function readPemFile(file: string): string {
  return withOpen(file, (descriptor, is) => {
    if (is !== "file") throw unreadable(file, `it is a ${is}, not a file`);
    return readUpTo(descriptor, file);
  });
}

/** As readPemFile, and from a pipe as well: what a shell hands over with `<(command)` or as /dev/stdin. */
export async function readPemSource(file: string): Promise<string> {
  const { descriptor, is } = open(file);
  try {
    if (is === "file") return readUpTo(descriptor, file);
    if (is === "pipe") return await readPipe(descriptor, file);
    throw unreadable(file, `it is a ${is}, not a file`);
  } finally {
    closeSync(descriptor);
  }
}

type Opened = { readonly descriptor: number; readonly is: "file" | "pipe" | "folder" | "device" };

function open(file: string): Opened {
  try {
    // Without O_NONBLOCK, opening a pipe waits until somebody writes to it.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    const is = stats.isFile() ? "file" : stats.isFIFO() ? "pipe" : stats.isDirectory() ? "folder" : "device";
    return { descriptor, is };
  } catch (error) {
    throw unreadable(file, (error as NodeJS.ErrnoException).code ?? String(error), error);
  }
}

function withOpen<T>(file: string, use: (descriptor: number, is: Opened["is"]) => T): T {
  const { descriptor, is } = open(file);
  try {
    return use(descriptor, is);
  } finally {
    closeSync(descriptor);
  }
}

function readUpTo(descriptor: number, file: string): string {
  const bytes = new Bytes(file);
  while (bytes.readFrom(descriptor) === "more") {}
  return bytes.text();
}

/** Until whoever writes closes it. A pipe that nobody has opened for writing yet reads as one that has ended: waited for. */
async function readPipe(descriptor: number, file: string): Promise<string> {
  const bytes = new Bytes(file);
  for (let waitedMs = 0; waitedMs < pipePatienceMs; waitedMs += pipePauseMs) {
    let read = bytes.readFrom(descriptor);
    while (read === "more") read = bytes.readFrom(descriptor);
    if (read === "end" && bytes.size > 0) return bytes.text();
    await sleep(pipePauseMs);
  }
  throw unreadable(file, `it is a pipe, and nothing more came through it within ${pipePatienceMs / 1000} s`);
}

class Bytes {
  size = 0;
  readonly #file: string;
  readonly #parts: Buffer[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  readFrom(descriptor: number): "more" | "end" | "not yet" {
    const part = Buffer.alloc(1 << 16);
    let count: number;
    try {
      count = readSync(descriptor, part);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EAGAIN") return "not yet";
      throw unreadable(this.#file, code ?? String(error), error);
    }
    if (count === 0) return "end";
    this.size += count;
    if (this.size > mostBytes)
      throw unreadable(this.#file, `it is larger than ${mostBytes} bytes, so it is no PEM file`);
    this.#parts.push(part.subarray(0, count));
    return "more";
  }

  text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}

function unreadable(file: string, why: string, cause?: unknown): CattailError {
  return new CattailError("CERTS_FILE_UNREADABLE", {
    problem: `${file} cannot be read (${why})`,
    next: "Check the path, and that it is a file that this user may read",
    ...(cause === undefined ? {} : { cause }),
  });
}

// Where log lines go: a stream, a descriptor (standard output), a file that may be rotated away under us. The local
// syslog has a file of its own.
import { write } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { CattailError } from "../../lib/index.ts";
import { makeFolders } from "../../linux/files.ts";
import type { LogSink } from "./log-queue.ts";

export function streamSink(stream: Writable): LogSink {
  // A pipe whose reader is gone must not end the process; the writes fail one by one and are counted.
  stream.on("error", () => undefined);
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => undefined,
  };
}

// How long to wait before asking again a pipe that is full; only its own lines wait.
const fullPipeMs = 20;

/**
 * A descriptor, such as standard output. Node writes to a pipe of its own in the serving thread and waits there while the
 * reader is stuck; these writes happen beside it, one at a time.
 */
export function descriptorSink(descriptor: number): LogSink {
  const writeSome = promisify<number, Uint8Array, number>((fd, bytes, done) => {
    write(fd, bytes, (error, count) => done(error, count));
  });
  let isClosed = false;
  return {
    async write(text) {
      let rest: Uint8Array = Buffer.from(text);
      while (rest.length > 0) {
        try {
          rest = rest.subarray(await writeSome(descriptor, rest));
        } catch (error) {
          if (isClosed || (error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
          await sleep(fullPipeMs);
        }
      }
    },
    async close() {
      isClosed = true; // the descriptor stays open: it is not ours
    },
  };
}

/** Opened anew when the path no longer leads to the open file, as after a rotation. */
export async function fileSink(path: string, whenNone: string): Promise<LogSink> {
  let file = await openLogFile(path, whenNone);
  return {
    async write(text) {
      if (!(await isSameFile(file, path))) {
        const before = file;
        file = await openLogFile(path, whenNone);
        await before.close();
      }
      await file.appendFile(text);
    },
    close: () => file.close(),
  };
}

async function openLogFile(path: string, next: string): Promise<FileHandle> {
  try {
    await makeFolders(dirname(path));
    return await open(path, "a", 0o644);
  } catch (error) {
    throw new CattailError("LOG_FILE", {
      problem: `the log file ${path} cannot be opened (${(error as NodeJS.ErrnoException).code ?? String(error)})`,
      next,
      cause: error,
    });
  }
}

async function isSameFile(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [opened, named] = await Promise.all([file.stat(), stat(path)]);
    return opened.ino === named.ino && opened.dev === named.dev;
  } catch {
    return false; // it was removed
  }
}

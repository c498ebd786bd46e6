// Pipes for tests: one with a name, and one that is full and that nobody reads, as the log of a server has it when its
// collector hangs.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pipe with a name, in a folder of its own. Undefined where such cannot be made. */
export function namedPipe(): (Disposable & { readonly path: string }) | undefined {
  const folder = mkdtempSync(join(tmpdir(), "cattail-pipe-"));
  const path = join(folder, "pipe");
  const remove = () => rmSync(folder, { recursive: true });
  try {
    execFileSync("mkfifo", [path]);
  } catch {
    remove();
    return undefined;
  }
  return { path, [Symbol.dispose]: remove };
}

/** Its descriptor waits, as that of a pipe does which a shell has made. */
export function fullPipe(): (Disposable & { readonly descriptor: number }) | undefined {
  const pipe = namedPipe();
  if (pipe === undefined) return undefined;
  const filling = openSync(pipe.path, constants.O_RDWR | constants.O_NONBLOCK);
  fill(filling);
  const descriptor = openSync(pipe.path, constants.O_WRONLY);
  return {
    descriptor,
    [Symbol.dispose]() {
      closeSync(descriptor);
      closeSync(filling);
      pipe[Symbol.dispose]();
    },
  };
}

function fill(descriptor: number): void {
  for (let size = 1 << 16; size > 0; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size, "x"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      size >>= 1;
    }
  }
}

// A pipe that is full and that nobody reads, as the log of a server has it when its collector hangs.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Undefined where pipes cannot be made by name. Its descriptor waits, as that of a pipe does which a shell has made. */
export function fullPipe(): (Disposable & { readonly descriptor: number }) | undefined {
  const folder = mkdtempSync(join(tmpdir(), "cattail-pipe-"));
  const path = join(folder, "pipe");
  try {
    execFileSync("mkfifo", [path]);
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const filling = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  fill(filling);
  const descriptor = openSync(path, constants.O_WRONLY);
  return {
    descriptor,
    [Symbol.dispose]() {
      closeSync(descriptor);
      closeSync(filling);
      rmSync(folder, { recursive: true });
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

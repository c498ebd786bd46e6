// Ends the process of a test file that does not end by itself. The runner's own time limit is for each test; a file that
// spins, or hangs before its first test or after its last, would hold up the whole run.
import { execFileSync } from "node:child_process";

type RunnerEvent = { readonly type: string; readonly data: object };

export class StuckFiles implements Disposable {
  readonly #quietMs: number;
  readonly #lastHeardMs = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  /** `quietMs`: how long a file may say nothing, neither of its tests nor by printing. */
  constructor(quietMs: number) {
    this.#quietMs = quietMs;
    this.#timer = setInterval(() => this.#endStuck(), Math.min(quietMs / 5, 10_000));
  }

  /** To be told of everything that the runner says. */
  note({ type, data }: RunnerEvent): void {
    const { file, name } = data as { file?: string; name?: string };
    if (file === undefined) return;
    const isFilesOwn = name === file;
    if (type === "test:complete" && isFilesOwn) this.#lastHeardMs.delete(file);
    else if (this.#lastHeardMs.has(file) || (type === "test:dequeue" && isFilesOwn)) {
      this.#lastHeardMs.set(file, performance.now());
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #endStuck(): void {
    for (const [file, lastHeardMs] of this.#lastHeardMs) {
      if (performance.now() - lastHeardMs < this.#quietMs) continue;
      this.#lastHeardMs.delete(file);
      console.log(`ENDED   ${file}: nothing was heard of it for ${this.#quietMs / 1_000} s`);
      for (const pid of childrenThatRun(file)) process.kill(pid, "SIGKILL");
    }
  }
}

// Without `ps` this throws and ends the run, which is better than to wait for ever.
function childrenThatRun(file: string): number[] {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  return processes.flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/);
    return Number(parent) === process.pid && line.trimEnd().endsWith(` ${file}`) ? [Number(pid)] : [];
  });
}

// Ends the process of a test file that does not end by itself. The runner's own time limit is for each test; a file that
// spins, or hangs before its first test or after its last, would hold up the whole run.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

type RunnerEvent = { readonly type: string; readonly data: object };

export class StuckFiles implements Disposable {
  readonly #quietMs: number;
  /** By path, with what the runner was given for it: how its process is called. */
  readonly #running = new Map<string, { readonly given: string; lastHeardMs: number }>();
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
    const nowMs = performance.now();
    if (name !== undefined && resolve(name) === file) {
      if (type === "test:dequeue") this.#running.set(file, { given: name, lastHeardMs: nowMs });
      if (type === "test:complete") this.#running.delete(file);
    }
    // A test that stands in another file than its process was given tells of any.
    const known = this.#running.get(file);
    for (const one of known === undefined ? this.#running.values() : [known]) one.lastHeardMs = nowMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #endStuck(): void {
    for (const [file, { given, lastHeardMs }] of this.#running) {
      if (performance.now() - lastHeardMs < this.#quietMs) continue;
      this.#running.delete(file);
      console.log(`ENDED   ${given}: nothing was heard of it for ${this.#quietMs / 1_000} s`);
      for (const pid of childrenThatRun(given)) process.kill(pid, "SIGKILL");
    }
  }
}

// Without `ps` this throws and ends the run, which is better than to wait for ever.
function childrenThatRun(file: string): number[] {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  return processes.flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/);
    return Number(parent) === process.pid && `${line.trimEnd()} `.includes(` ${file} `) ? [Number(pid)] : [];
  });
}

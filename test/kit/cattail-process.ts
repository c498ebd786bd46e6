// `cattail` as a process of its own, the way a user or a kubelet starts it: what it prints, how it ends.
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export type CattailOptions = {
  /** Nothing else of our own environment but PATH is passed on, and where Node keeps what it has compiled. */
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
  /** What to run; by default the sources, with this Node. */
  readonly program?: readonly string[];
  /** What it reads on its standard input; nothing where it is not given. */
  readonly stdin?: string;
  /** A descriptor for its standard output to go to, instead of being read. */
  readonly stdout?: number;
};

const fromSources = [process.execPath, "src/programs/main/main.ts"];

export class Cattail implements AsyncDisposable {
  readonly process: ChildProcess;
  /** Null: a signal ended it. */
  readonly ended: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(parameters: readonly string[], options: CattailOptions = {}) {
    const [program = "", ...before] = options.program ?? fromSources;
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    this.process = spawn(program, [...before, ...parameters], {
      stdio: [options.stdin === undefined ? "ignore" : "pipe", options.stdout ?? "pipe", "pipe"],
      env: { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    this.process.stdin?.on("error", () => undefined); // it may end without having read it
    this.process.stdin?.end(options.stdin);
    this.process.stdout?.on("data", (chunk: Buffer) => (this.stdout += chunk));
    this.process.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk));
    this.ended = new Promise((done) => this.process.on("close", done));
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** Waits for what `look` finds; fails when the process ends first, or after two minutes. */
  async until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadlineMs = performance.now() + 120_000;
    for (;;) {
      const seen = await look();
      if (seen !== undefined) return seen;
      if (performance.now() > deadlineMs || this.process.exitCode !== null) {
        throw new Error(`waited in vain: ${what}; exit code ${this.process.exitCode}\n${this.output.slice(-4000)}`);
      }
      await sleep(50);
    }
  }

  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(`${pattern}`, () => pattern.exec(this.output) ?? undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }
}

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs it to its end. */
export async function cattail(parameters: readonly string[], options?: CattailOptions): Promise<Ended> {
  await using started = new Cattail(parameters, options);
  const code = await started.ended;
  return { code, stdout: started.stdout, stderr: started.stderr };
}

/** What a probe gets; undefined while nobody listens. */
export async function probe(
  url: string,
  headers: { [name: string]: string } = {},
): Promise<{ status: number; type: string | null; body: string } | undefined> {
  try {
    const response = await fetch(url, { headers });
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  } catch {
    return undefined;
  }
}

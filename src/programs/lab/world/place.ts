// A place where programs run: the switch, a node, a pod. It is a process that does nothing but hold namespaces: with its last process a
// namespace goes, so nothing has to be named, and nothing stays behind when whoever built this dies.
//
//   unshare --net [--mount --uts] cat     reads from a pipe that we hold: it ends when we do
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { CattailError, messageOf } from "../../../base/lib/index.ts";
import { type ProgramResult, type RunProgramOptions, runProgram } from "../../../base/linux/index.ts";

/** What a place has of its own; the rest is its maker's. */
export type Own = "net" | "mount" | "uts";

export type RunOptions = Omit<RunProgramOptions, "namespace">;

export type StartOptions = {
  readonly env: { readonly [name: string]: string };
  /** A file that both of its outputs are appended to. */
  readonly log: string;
};

const enterFlags: { readonly [own in Own]: string } = { net: "--net", mount: "--mount", uts: "--uts" };

export class Place implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** For whatever takes a network namespace by its path. */
  readonly netns: string;
  readonly #own: readonly Own[];
  readonly #holder: ChildProcess;
  readonly #started = new Set<ChildProcess>();

  private constructor(name: string, holder: ChildProcess, pid: number, own: readonly Own[]) {
    this.name = name;
    this.pid = pid;
    this.netns = `/proc/${pid}/ns/net`;
    this.#own = own;
    this.#holder = holder;
  }

  static async make(name: string, own: readonly Own[]): Promise<Place> {
    const flags = own.map((each) => enterFlags[each]);
    const holder = spawn("unshare", [...flags, "--", "cat"], { stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    holder.stderr.on("data", (chunk: Buffer) => (said += chunk));
    const failed = new Promise<never>((_, reject) => {
      holder.once("error", (error) => reject(noPlace(name, messageOf(error))));
      holder.once("exit", () => reject(noPlace(name, said.trim())));
    });
    // What comes back through cat was read inside: from then on the namespaces are there.
    const echoed = new Promise<void>((resolve) => holder.stdout.once("data", () => resolve()));
    holder.stdin.on("error", () => undefined); // it may be killed before us
    holder.stdin.write("\n");
    await Promise.race([echoed, failed]);
    failed.catch(() => undefined); // it ends some day
    const { pid } = holder;
    if (pid === undefined) throw noPlace(name, "it has no process");
    return new Place(name, holder, pid, own);
  }

  /** The words that run a program here, for whoever starts it in a way of its own. */
  words(program: string, args: readonly string[] = []): [string, ...string[]] {
    const flags = this.#own.map((each) => enterFlags[each]);
    if (flags.length === 0) return [program, ...args];
    return ["nsenter", "--target", String(this.pid), ...flags, "--", program, ...args];
  }

  /** To its end; throws what `runProgram` throws. */
  async run(program: string, args: readonly string[] = [], options: RunOptions = {}): Promise<ProgramResult> {
    const [enter, ...words] = this.words(program, args);
    return await runProgram(enter, words, options);
  }

  /** A program that stays; it dies with us, and when this place goes. */
  start(program: string, args: readonly string[], { env, log }: StartOptions): ChildProcess {
    const file = openSync(log, "a", 0o600);
    try {
      const words = ["--pdeathsig", "KILL", "--", ...this.words(program, args)];
      const child = spawn("setpriv", words, { env, stdio: ["ignore", file, file], detached: true });
      this.#started.add(child);
      child.once("error", () => this.#started.delete(child)); // the log stays empty, and who waits for it says so
      child.once("exit", () => this.#started.delete(child));
      return child;
    } finally {
      closeSync(file);
    }
  }

  /** What it has in a file of its own: /proc/net and the like. */
  readProc(path: string): string {
    return readFileSync(`/proc/${this.pid}/${path}`, "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#started].map((child) => ended(child, "SIGTERM")));
    await ended(this.#holder, "SIGKILL");
  }
}

const patienceMs = 3_000;

/** Asks first, and kills after a while. The whole group: what it started goes with it. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  await gone;
  clearTimeout(timer);
}

function noPlace(name: string, why: string): CattailError {
  return new CattailError("LAB_NO_NAMESPACES", {
    problem: `no namespaces could be made for ${name} (${why})`,
    next: "Run this as root; without root the kernel must allow user namespaces (sysctl user.max_user_namespaces, and kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)",
  });
}

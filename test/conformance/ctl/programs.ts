// The program that a case runs: a process of its own, ours from the sources or any by its path, or `runCtl` within the test,
// which spares a start for each of the seven hundred steps.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Console } from "../../../src/programs/ctl/console.ts";
import { runCtl } from "../../../src/programs/ctl/main.ts";
import type { HostSetup } from "./case.ts";

export type Call = {
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly host?: HostSetup;
};

export type Ended = { readonly rc: number | "timeout"; readonly stdout: string; readonly stderr: string };

export type Program = (call: Call) => Promise<Ended>;

const repository = resolve(import.meta.dirname, "../../..");

/** `cattail ctl` from the sources. */
export const ourProcess: Program = (call) => {
  const { NODE_COMPILE_CACHE } = process.env;
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  const words = [process.execPath, `${repository}/src/programs/main/main.ts`, "ctl"];
  return aProcess(words)({ ...call, env: { ...call.env, ...cache } });
};

/** The same code without a process: one call at a time, because a command looks for files in the current folder. */
export const withinTest: Program = async ({ argv, env, cwd, stdin, timeoutMs }) => {
  const said = { out: "", err: "" };
  const stop = new AbortController();
  const console: Console = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    readStdin: async () => stdin,
    env,
    isTerminal: false,
    signal: stop.signal,
  };
  const before = process.cwd();
  process.chdir(cwd);
  const timer = setTimeout(() => stop.abort("timeout"), timeoutMs);
  try {
    const rc = await runCtl(argv, console, { program: "cattail ctl", version: () => "v3.33.0" });
    if (stop.signal.aborted) return { rc: "timeout", stdout: "", stderr: "" };
    return { rc, stdout: said.out, stderr: said.err };
  } finally {
    clearTimeout(timer);
    process.chdir(before);
  }
};

/** Any program: the words before those of a step. */
export function aProcess(program: readonly string[]): Program {
  return async ({ argv, env, cwd, stdin, timeoutMs, host }) => {
    const within = host === undefined ? [] : inHost(host);
    const [file = "", ...words] = [...within, ...program, ...argv];
    const child = spawn(file, words, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    child.stdout.on("data", (chunk: Buffer) => chunks.stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
    child.stdin.on("error", () => undefined); // it need not read what it is given
    child.stdin.end(stdin);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    const code = await new Promise<number>((done, failed) => {
      child.on("error", failed);
      child.on("close", (exit) => done(exit ?? -1));
    });
    clearTimeout(timer);
    if (isLate) return { rc: "timeout", stdout: "", stderr: "" };
    return {
      rc: code,
      stdout: Buffer.concat(chunks.stdout).toString(),
      stderr: Buffer.concat(chunks.stderr).toString(),
    };
  };
}

/** Mounts, processes and a network of its own; needs root. */
function inHost(setup: HostSetup): string[] {
  const isolation = ["unshare", "-m", "-n", "-p", "-f", "--mount-proc"];
  return [...isolation, process.execPath, `${import.meta.dirname}/in-host.ts`, JSON.stringify(setup)];
}

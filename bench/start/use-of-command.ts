// What a command that ends has used, from its first instruction to its last: CPU as the kernel counts it when the process
// is gone (getrusage, so that not a millisecond is missing), the clock on the wall, and the most memory it had at once.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export type CommandUse = { readonly cpuMs: number; readonly wallMs: number; readonly peakRssMb: number };
export type Environment = { readonly [name: string]: string | undefined };

const childrenOfOurs = -1;

type Ffi = {
  dlopen(
    library: string,
    symbols: { [name: string]: { arguments: string[]; return: string } },
  ): { functions: { [name: string]: (...given: unknown[]) => number } };
};

// It says once that it is experimental, which nobody who reads figures needs to know.
const { emitWarning } = process;
process.emitWarning = () => undefined;
const ffi = process.getBuiltinModule("node:ffi") as Ffi | undefined; // as this file uses it
process.emitWarning = emitWarning;
const getrusage = ffi?.dlopen("libc.so.6", { getrusage: { arguments: ["i32", "buffer"], return: "i32" } }).functions
  .getrusage;

/** Of all processes that we have started and that have ended. */
function childrenCpuMs(): number {
  if (getrusage === undefined) throw new Error(`Node ${process.version} has no node:ffi: run this with Node 26`);
  const usage = Buffer.alloc(144); // struct rusage: user and system time first, each in seconds and microseconds
  getrusage(childrenOfOurs, usage);
  const word = (index: number) => Number(usage.readBigInt64LE(index * 8));
  return (word(0) + word(2)) * 1000 + (word(1) + word(3)) / 1000;
}

export async function useOfCommand(command: readonly string[], env: Environment): Promise<CommandUse> {
  const [program = "", ...parameters] = command;
  const beforeMs = childrenCpuMs();
  const startMs = performance.now();
  const child = spawn(program, parameters, { env: { ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaint += chunk));
  let isOver = false;
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  void ended.then(() => (isOver = true));
  // The most so far is kept by the kernel, so only the last reading counts. (What getrusage says of children would count
  // the moment between fork and exec, in which they are as large as we are.)
  let peakRssMb = 0;
  while (!isOver) {
    peakRssMb = Math.max(peakRssMb, peakRssOf(child.pid));
    await sleep(2);
  }
  const wallMs = performance.now() - startMs;
  const code = await ended;
  if (code !== 0) throw new Error(`${command.join(" ")}: exit code ${code}\n${complaint.slice(-2000)}`);
  return { cpuMs: childrenCpuMs() - beforeMs, wallMs, peakRssMb };
}

function peakRssOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it has just ended
  }
}

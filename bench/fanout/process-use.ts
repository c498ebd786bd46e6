// What a process has used, read from /proc: CPU time in nanoseconds over all its threads, and resident memory. The clock on
// the wall would count what the clients beside it use.
import { readdirSync, readFileSync } from "node:fs";

export type Use = { cpuMs: number; rssMb: number; peakRssMb: number };

export function useOf(pid: number): Use {
  let cpuNanos = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      cpuNanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch (error) {
      // A thread may end between the two readings; what it used is then lost, which is not ours to hide by guessing.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return { cpuMs: cpuNanos / 1e6, rssMb: kilobytes("VmRSS") / 1024, peakRssMb: kilobytes("VmHWM") / 1024 };
}

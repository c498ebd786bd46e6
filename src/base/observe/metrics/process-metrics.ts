// The process metrics of the original's runtime that prom-client does not have, from /proc. Where there is no /proc they
// are left out.
import { readFileSync } from "node:fs";
import { Gauge, type Registry } from "prom-client";

export function addProcessMetrics(registry: Registry, proc = "/proc/self"): void {
  const readings: { name: string; type: "counter" | "gauge"; help: string; read(): number | undefined }[] = [
    {
      name: "process_network_receive_bytes_total",
      type: "counter",
      help: "Bytes received by the process's network.",
      read: () => netstat(proc, "InOctets"),
    },
    {
      name: "process_network_transmit_bytes_total",
      type: "counter",
      help: "Bytes sent by the process's network.",
      read: () => netstat(proc, "OutOctets"),
    },
    {
      name: "process_virtual_memory_max_bytes",
      type: "gauge",
      help: "Most virtual memory the process may have.",
      read: () => addressSpaceLimit(proc),
    },
  ];
  for (const { name, type, help, read } of readings) {
    if (read() === undefined) continue;
    // A counter whose value is read off, not counted, is a gauge to the library; only the exposed type differs.
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read() ?? 0);
      },
    });
    const get = gauge.get.bind(gauge);
    registry.registerMetric(Object.assign(gauge, { get: async () => ({ ...(await get()), type }) }));
  }
}

function netstat(proc: string, field: string): number | undefined {
  const lines = readText(`${proc}/net/netstat`)?.split("\n") ?? [];
  const at = lines.findIndex((line) => line.startsWith("IpExt:"));
  const column = lines[at]?.split(" ").indexOf(field) ?? -1;
  const value = column < 0 ? undefined : lines[at + 1]?.split(" ")[column];
  return value === undefined ? undefined : Number(value);
}

function addressSpaceLimit(proc: string): number | undefined {
  const limit = /^Max address space\s+(\S+)/m.exec(readText(`${proc}/limits`) ?? "")?.[1];
  // As Go shows it: no limit is the largest 64-bit number.
  return limit === undefined ? undefined : limit === "unlimited" ? 2 ** 64 : Number(limit);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // no /proc here
  }
}

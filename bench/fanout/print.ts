// The results as a table for people, each opponent's figure beside ours and how many times ours it is.
import type { Result } from "./scenarios.ts";

const columns: { name: string; of: (result: Result) => number; digits: number }[] = [
  { name: "µs CPU / delivery", of: (result) => result.cpuMicrosPerDelivery, digits: 3 },
  { name: "p50 ms", of: (result) => result.p50Ms, digits: 1 },
  { name: "p99 ms", of: (result) => result.p99Ms, digits: 1 },
  { name: "in sync ms", of: (result) => result.inSyncMs, digits: 0 },
  { name: "snapshot CPU ms", of: (result) => result.snapshotCpuMs, digits: 0 },
  { name: "RSS MB", of: (result) => result.rssMb, digits: 0 },
  { name: "peak MB", of: (result) => result.peakRssMb, digits: 0 },
];

export function printTable(results: readonly Result[]): void {
  const header = ["scenario", "server", "clients", "deliveries", ...columns.map(({ name }) => name)];
  const rows = [header, header.map(() => "---")];
  for (const result of results) {
    const ours = results.find((other) => other.scenario === result.scenario && other.server === "cattail");
    const cells = columns.map(({ of, digits }) => {
      const value = of(result).toFixed(digits);
      if (ours === undefined || ours === result || of(ours) === 0) return value;
      return `${value} (${(of(result) / of(ours)).toFixed(1)}×)`;
    });
    rows.push([result.scenario, result.server, `${result.clients}`, `${result.deliveries}`, ...cells]);
  }
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}

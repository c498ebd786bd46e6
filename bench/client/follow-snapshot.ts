// The process that snapshot.ts measures: follows as any program would, until in sync, several times in a row, and prints
// what each took. The first time is that of a program just started, while V8 still interprets and compiles; the others
// are those of a program that reconnects. Values are counted and let go, as the Go client does.
//   node follow-snapshot.ts PORT TIMES [batches|updates] [snappy|none]
import { follow, followBatches } from "../../src/typha/client/index.ts";

const [port, times, by = "batches", compression = "snappy"] = process.argv.slice(2);
const options = {
  servers: `127.0.0.1:${port}`,
  info: "bench",
  compression: compression === "snappy" ? (["snappy"] as const) : [],
};
const inSync = 2;

type Counts = { updates: number; valueChars: number };
const runs: (Counts & { cpuMs: number; wallMs: number })[] = [];
for (let round = 0; round < Number(times); round += 1) {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const counts = await (by === "updates" ? readUpdates() : readBatches());
  const { user, system } = process.cpuUsage(cpuBefore);
  runs.push({ cpuMs: (user + system) / 1000, wallMs: performance.now() - startMs, ...counts });
}
console.log(JSON.stringify({ runs, maxRssMb: process.resourceUsage().maxRSS / 1024 }));

async function readBatches(): Promise<Counts> {
  const counts = { updates: 0, valueChars: 0 };
  for await (const batch of followBatches(options)) {
    for (const update of batch) {
      if (update.is === "set") {
        counts.updates += 1;
        counts.valueChars += update.value.length;
      } else if (update.is === "status" && update.status === inSync) return counts;
    }
  }
  return counts;
}

async function readUpdates(): Promise<Counts> {
  const counts = { updates: 0, valueChars: 0 };
  for await (const update of follow(options)) {
    if (update.is === "set") {
      counts.updates += 1;
      counts.valueChars += update.value.length;
    } else if (update.is === "status" && update.status === inSync) break;
  }
  return counts;
}

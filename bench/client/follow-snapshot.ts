// The process that snapshot.ts measures: follows as any program would, until in sync, several times in a row, and prints
// what each took. The first time is that of a program just started, while V8 still interprets and compiles; the others
// are those of a program that reconnects. Values are counted and let go, as the Go client does.
import { followBatches } from "../../src/client/index.ts";

const [port, times] = process.argv.slice(2);
const runs: { cpuMs: number; wallMs: number; updates: number; valueChars: number }[] = [];
for (let round = 0; round < Number(times); round += 1) runs.push(await readOnce());
console.log(JSON.stringify({ runs, maxRssMb: process.resourceUsage().maxRSS / 1024 }));

async function readOnce(): Promise<(typeof runs)[number]> {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  let updates = 0;
  let valueChars = 0;
  for await (const batch of followBatches({ servers: `127.0.0.1:${port}`, info: "bench" })) {
    for (const update of batch) {
      if (update.is !== "set") continue;
      updates += 1;
      valueChars += update.value.length;
    }
    if (batch.some((update) => update.is === "status" && update.status === 2)) break;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - startMs, updates, valueChars };
}

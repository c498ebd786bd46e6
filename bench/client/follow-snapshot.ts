// The process that snapshot.ts measures: follows as any program would, until in sync, and prints what it took. Memory is
// the most that was resident: values are counted and let go, as the Go client does.
import { followBatches } from "../../src/client/index.ts";

const cpuBefore = process.cpuUsage();
const startMs = performance.now();
let updates = 0;
let valueChars = 0;
reading: for await (const batch of followBatches({ servers: `127.0.0.1:${process.argv[2]}`, info: "bench" })) {
  for (const update of batch) {
    if (update.is === "set") {
      updates += 1;
      valueChars += update.value.length;
    } else if (update.is === "status" && update.status === 2) break reading;
  }
}
const { user, system } = process.cpuUsage(cpuBefore);
const maxRssMb = process.resourceUsage().maxRSS / 1024;
console.log(
  JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() - startMs, maxRssMb, updates, valueChars }),
);

// What does a program pay for a large snapshot through follow() and followBatches(), next to Go's client? All read the same
// snapshot from the same Go server, each in a process of its own, in turns; processor time from before it connects to
// in-sync, all threads included. Ours twice: by a program just started, and by one that reconnects. Go twice: as it only
// decodes, and as it also knows every key, which a client must that tells new keys from changed ones and misses those that
// go while it is not connected; ours always does.
//   npm run bench:client -- [--keys 100000] [--bytes 700] [--rounds 7] [--compression snappy|none] [--json]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { startGoServer } from "../../test/kit/go-server.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";
import { type Figures, readWithGo } from "../read-with-go.ts";

/** The least is the nearest to a machine that does nothing else: other work only ever adds to a run's time. */
type Summary = Figures & { leastCpuMs: number };

const { values: args } = parseArgs({
  options: {
    keys: { type: "string", default: "100000" },
    bytes: { type: "string", default: "700" },
    rounds: { type: "string", default: "7" },
    compression: { type: "string", default: "snappy" },
    json: { type: "boolean", default: false },
  },
});
await using server = await startGoServer(["--generate", `${args.keys}x${args.bytes}`]);

const rows = {
  go: "Go, decoding",
  goKnowing: "Go, knowing its keys",
  first: "followBatches(), just started",
  later: "followBatches(), reconnecting",
  followFirst: "follow(), just started",
  followLater: "follow(), reconnecting",
} as const;
const measured: Record<keyof typeof rows, Figures[]> = {
  go: [],
  goKnowing: [],
  first: [],
  later: [],
  followFirst: [],
  followLater: [],
};
const plainly = args.compression === "none" ? ["--no-restart"] : [];
for (let round = 0; round <= Number(args.rounds); round += 1) {
  const go = readWithGo(server.address, plainly);
  const goKnowing = readWithGo(server.address, [...plainly, "--know-keys"]);
  const [batches, updates] = [readWithOurs("batches"), readWithOurs("updates")];
  if (round === 0) continue; // the server makes the snapshot; the others are served the same bytes
  measured.go.push(go);
  measured.goKnowing.push(goKnowing);
  measured.first.push(...batches.slice(0, 1));
  measured.later.push(summary(batches.slice(1))); // one figure a round, so that no row has more chances to be lucky
  measured.followFirst.push(...updates.slice(0, 1));
  measured.followLater.push(summary(updates.slice(1)));
}

const { keys, bytes, compression } = args;
const summaries = {
  go: summary(measured.go),
  goKnowing: summary(measured.goKnowing),
  first: summary(measured.first),
  later: summary(measured.later),
  followFirst: summary(measured.followFirst),
  followLater: summary(measured.followLater),
};
const result = { keys: Number(keys), valueBytes: Number(bytes), compression, ...summaries };
record({ of: compression === "none" ? "snapshot without compression" : "snapshot", figures: result });
if (args.json) console.log(JSON.stringify(result));
else {
  console.log(
    `to in-sync, ${keys} keys with ${bytes}-byte values, compression ${compression}, of ${args.rounds} rounds the median, and the least:`,
  );
  console.log(`${" ".repeat(34)}CPU    least     wall   CPU and least: of Go decoding, of Go knowing its keys`);
  for (const [row, { cpuMs, leastCpuMs, wallMs }] of Object.entries(summaries)) {
    const name = rows[row as keyof typeof rows]; // the names of both are the same
    const times = [cpuMs, leastCpuMs, wallMs].map((ms) => `${ms.toFixed(0).padStart(5)} ms`).join(" ");
    const ratios = [summaries.go, summaries.goKnowing].map(
      (go) => `${(cpuMs / go.cpuMs).toFixed(2)} and ${(leastCpuMs / go.leastCpuMs).toFixed(2)}`,
    );
    console.log(`  ${name.padEnd(30)}${times}   ${ratios.join(", ")}`);
  }
}

function readWithOurs(by: "batches" | "updates"): Figures[] {
  const script = ["bench/client/follow-snapshot.ts", `${server.port}`, "4", by, args.compression];
  return (JSON.parse(execFileSync(process.execPath, script, { encoding: "utf8" })) as { runs: Figures[] }).runs; // printed there
}

function summary(runs: readonly Figures[]): Summary {
  const cpu = runs.map(({ cpuMs }) => cpuMs);
  return { cpuMs: median(cpu), leastCpuMs: Math.min(...cpu), wallMs: median(runs.map(({ wallMs }) => wallMs)) };
}

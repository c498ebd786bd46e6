// What does a program pay for a large snapshot through follow(), next to Go's client? Both read the same compressed
// snapshot from the same Go server, each in a process of its own, in turns; processor time from before it connects to
// in-sync, all threads included. Ours twice: by a program just started, and by one that reconnects.
//   npm run bench:client -- [--keys 100000] [--bytes 700] [--rounds 7] [--json]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { goPeer } from "../../test/kit/go.ts";
import { startGoServer } from "../../test/kit/go-server.ts";
import { record } from "../../test/kit/record.ts";

type Figures = { cpuMs: number; wallMs: number };

const { values: args } = parseArgs({
  options: {
    keys: { type: "string", default: "100000" },
    bytes: { type: "string", default: "700" },
    rounds: { type: "string", default: "7" },
    json: { type: "boolean", default: false },
  },
});
const client = await goPeer("test/peers/typha/client");
if (client.path === undefined) throw new Error(`this bench needs its Go peers: ${client.missing}`);
await using server = await startGoServer(["--generate", `${args.keys}x${args.bytes}`]);

const figures: { first: Figures[]; later: Figures[]; go: Figures[] } = { first: [], later: [], go: [] };
for (let round = 0; round <= Number(args.rounds); round += 1) {
  const go = readWithGo(client.path);
  const [first, ...later] = readWithOurs();
  if (round === 0) continue; // the server makes the snapshot; the others are served the same bytes
  figures.go.push(go);
  if (first !== undefined) figures.first.push(first);
  figures.later.push(...later);
}

const result = {
  keys: Number(args.keys),
  valueBytes: Number(args.bytes),
  first: median(figures.first),
  later: median(figures.later),
  go: median(figures.go),
};
record({ of: "snapshot", figures: result });
if (args.json) console.log(JSON.stringify(result));
else {
  console.log(`following to in-sync, ${args.keys} keys with ${args.bytes}-byte values, median of ${args.rounds}:`);
  console.log(`  Go                 ${show(result.go)}`);
  console.log(`  ours, just started ${show(result.first)}  ${ratio(result.first)} of Go's CPU`);
  console.log(`  ours, reconnecting ${show(result.later)}  ${ratio(result.later)} of Go's CPU`);
}

function readWithGo(path: string): Figures {
  const flags = ["--plaintext", "--server", server.address, "--until-in-sync", "--timeout", "120s", "--stats"];
  const last = execFileSync(path, flags, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  // written by test/peers/typha/client/stats.go
  const { stats } = JSON.parse(last) as { stats: { cpuMs: number; inSyncMs: { max: number } } };
  return { cpuMs: stats.cpuMs, wallMs: stats.inSyncMs.max };
}

function readWithOurs(): Figures[] {
  const script = ["bench/client/follow-snapshot.ts", `${server.port}`, "4"];
  return (JSON.parse(execFileSync(process.execPath, script, { encoding: "utf8" })) as { runs: Figures[] }).runs; // printed there
}

function median(runs: readonly Figures[]): Figures {
  const middle = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return { cpuMs: middle(runs.map(({ cpuMs }) => cpuMs)), wallMs: middle(runs.map(({ wallMs }) => wallMs)) };
}

function ratio({ cpuMs }: Figures): string {
  return (cpuMs / result.go.cpuMs).toFixed(2);
}

function show({ cpuMs, wallMs }: Figures): string {
  return `${cpuMs.toFixed(0).padStart(6)} ms CPU ${wallMs.toFixed(0).padStart(6)} ms`;
}

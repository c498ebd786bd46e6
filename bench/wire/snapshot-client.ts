// What does a client pay for a large snapshot, ours next to Go's? Both read the same compressed snapshot from the same Go
// server, each in a process of its own, in turns; processor time of the whole process, from before it connects to in-sync.
//   npm run bench:wire -- [--keys 100000] [--bytes 700] [--rounds 5] [--json]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { goPeer } from "../../test/kit/go.ts";
import { startGoServer } from "../../test/kit/go-server.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";

type Figures = { cpuMs: number; wallMs: number };

const { values: args } = parseArgs({
  options: {
    keys: { type: "string", default: "100000" },
    bytes: { type: "string", default: "700" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean" },
  },
});
const client = await goPeer("test/peers/typha/client");
if (client.path === undefined) throw new Error(`this bench needs its Go peers: ${client.missing}`);

await using server = await startGoServer(["--generate", `${args.keys}x${args.bytes}`]);
const figures: { ours: Figures[]; go: Figures[] } = { ours: [], go: [] };
for (let round = 0; round <= Number(args.rounds); round += 1) {
  const go = readWithGo(client.path);
  const ours = readWithOurs();
  // In the first round the server makes the snapshot; the others are served the same bytes.
  if (round > 0) figures.go.push(go);
  if (round > 0) figures.ours.push(ours);
}

const result = {
  keys: Number(args.keys),
  valueBytes: Number(args.bytes),
  ours: middleOf(figures.ours),
  go: middleOf(figures.go),
};
record({ of: "snapshot", figures: result });
if (args.json) console.log(JSON.stringify(result));
else {
  const ratio = (result.ours.cpuMs / result.go.cpuMs).toFixed(2);
  console.log(`reading a snapshot of ${args.keys} keys with ${args.bytes}-byte values, median of ${args.rounds}:`);
  console.log(`  ours  ${show(result.ours)}`);
  console.log(`  Go    ${show(result.go)}`);
  console.log(`  ours / Go, CPU: ${ratio}`);
}

function readWithGo(path: string): Figures {
  const flags = ["--plaintext", "--server", server.address, "--until-in-sync", "--timeout", "120s", "--stats"];
  const last = execFileSync(path, flags, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  // written by test/peers/typha/client/stats.go
  const { stats } = JSON.parse(last) as { stats: { cpuMs: number; inSyncMs: { max: number } } };
  return { cpuMs: stats.cpuMs, wallMs: stats.inSyncMs.max };
}

function readWithOurs(): Figures {
  const line = execFileSync(process.execPath, ["bench/wire/read-snapshot.ts", `${server.port}`], { encoding: "utf8" });
  return JSON.parse(line) as Figures; // printed there
}

function middleOf(runs: readonly Figures[]): Figures {
  return { cpuMs: median(runs.map(({ cpuMs }) => cpuMs)), wallMs: median(runs.map(({ wallMs }) => wallMs)) };
}

function show({ cpuMs, wallMs }: Figures): string {
  return `${cpuMs.toFixed(0).padStart(6)} ms CPU ${wallMs.toFixed(0).padStart(6)} ms`;
}

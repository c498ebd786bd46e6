// What does a client pay for a large snapshot, ours next to Go's? Both read the same compressed snapshot from the same Go
// server, each in a process of its own, in turns; processor time of the whole process, from before it connects to in-sync.
//   npm run bench:wire -- [--keys 100000] [--bytes 700] [--rounds 5] [--json]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { startGoServer } from "../../test/kit/go-server.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";
import { type Figures, readWithGo } from "../read-with-go.ts";

const { values: args } = parseArgs({
  options: {
    keys: { type: "string", default: "100000" },
    bytes: { type: "string", default: "700" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean" },
  },
});
await using server = await startGoServer(["--generate", `${args.keys}x${args.bytes}`]);
const figures: { ours: Figures[]; go: Figures[] } = { ours: [], go: [] };
for (let round = 0; round <= Number(args.rounds); round += 1) {
  const go = readWithGo(server.address);
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

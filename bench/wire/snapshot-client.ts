// What does a client pay for a large snapshot, ours next to Go's? Both read the same compressed snapshot from the same Go
// server, each in a process of its own, in turns; processor time of the whole process, from before it connects to in-sync.
//   node bench/wire/snapshot-client.ts [--keys 100000] [--bytes 700] [--rounds 5] [--json]
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { goPeer } from "../../test/kit/go.ts";
import { record } from "../../test/kit/record.ts";

type Figures = { cpuMs: number; wallMs: number };

const { values: args } = parseArgs({
  options: {
    keys: { type: "string", default: "100000" },
    bytes: { type: "string", default: "700" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean" },
  },
});
const server = await goPeer("test/peers/typha/server");
const client = await goPeer("test/peers/typha/client");
if (server.path === undefined || client.path === undefined) {
  throw new Error(`this bench needs its Go peers: ${server.missing ?? client.missing}`);
}

const serving = spawn(server.path, ["--updates-stdin", "--generate", `${args.keys}x${args.bytes}`], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [listening] = await once(createInterface({ input: serving.stdout }), "line");
const { port } = JSON.parse(String(listening)) as { port: number };
const figures: { ours: Figures[]; go: Figures[] } = { ours: [], go: [] };
for (let round = 0; round <= Number(args.rounds); round += 1) {
  const go = readWithGo(client.path, port);
  const ours = readWithOurs(port);
  // In the first round the server makes the snapshot; the others are served the same bytes.
  if (round > 0) figures.go.push(go);
  if (round > 0) figures.ours.push(ours);
}
serving.stdin.end();

const result = {
  keys: Number(args.keys),
  valueBytes: Number(args.bytes),
  ours: median(figures.ours),
  go: median(figures.go),
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

function readWithGo(path: string, port: number): Figures {
  const flags = ["--plaintext", "--server", `127.0.0.1:${port}`, "--until-in-sync", "--timeout", "120s", "--stats"];
  const last = execFileSync(path, flags, { encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  const { stats } = JSON.parse(last) as { stats: { cpuMs: number; inSyncMs: { max: number } } };
  return { cpuMs: stats.cpuMs, wallMs: stats.inSyncMs.max };
}

function readWithOurs(port: number): Figures {
  const line = execFileSync(process.execPath, ["bench/wire/read-snapshot.ts", `${port}`], { encoding: "utf8" });
  return JSON.parse(line) as Figures;
}

function median(runs: readonly Figures[]): Figures {
  const middle = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return { cpuMs: middle(runs.map(({ cpuMs }) => cpuMs)), wallMs: middle(runs.map(({ wallMs }) => wallMs)) };
}

function show({ cpuMs, wallMs }: Figures): string {
  return `${cpuMs.toFixed(0).padStart(6)} ms CPU ${wallMs.toFixed(0).padStart(6)} ms`;
}

// What does it cost to keep many clients up to date, beside the way the original does it?
//   npm run bench:fanout -- [--scenario NAME] [--json] [--workers N] [--plaintext] [--against CMD] [--only SERVER] [--rounds N]
// Runs each scenario with our server and with a Go server that encodes and compresses for every client, one after the other
// on the same machine, over mutual TLS. --json prints one line per scenario and server; without it a table with ratios. With
// --rounds the servers take turns so many times, and each figure is the middle one of its rounds.
import { parseArgs } from "node:util";
import { certificateFolder } from "../../test/kit/certificates.ts";
import { withoutGoClient } from "../../test/kit/go-clients.ts";
import { record } from "../../test/kit/record.ts";
import { startOnEtcd } from "./against.ts";
import { middle } from "./middle.ts";
import { printTable } from "./print.ts";
import { flat, type Result, type Scenario, scenarios, storm } from "./scenarios.ts";
import { profileFlags, released, type Subject, startCattail, startGoPerClient, type TlsFlags } from "./subjects.ts";

const { values: flags } = parseArgs({
  options: {
    scenario: { type: "string" },
    against: { type: "string" },
    only: { type: "string" },
    workers: { type: "string" },
    plaintext: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "1" },
  },
});
const rounds = Number(flags.rounds);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error(`--rounds is "${flags.rounds}"; it takes a number from 1 on`);
  process.exit(1);
}
if (withoutGoClient !== false) {
  console.error(`bench:fanout needs the Go client of test/peers: ${withoutGoClient}`);
  process.exit(1);
}

using folder = certificateFolder();
const { server: serverFiles, client: clientFiles } = folder;
const isTls = !flags.plaintext;
const tls: TlsFlags = isTls
  ? { ca: serverFiles.caFile, cert: serverFiles.certFile, key: serverFiles.keyFile }
  : undefined;
const clientFlags = isTls
  ? [
      "--ca",
      clientFiles.caFile,
      "--cert",
      clientFiles.certFile,
      "--key",
      clientFiles.keyFile,
      "--server-cn",
      "calico-typha",
    ]
  : [];
const workers = flags.workers === undefined ? undefined : Number(flags.workers);
const { against } = flags;
const starters: { name: string; start: () => Promise<Subject> }[] = [
  { name: "go-per-client", start: () => startGoPerClient({ tls }) },
];
if (against === undefined) starters.unshift({ name: "cattail", start: () => startCattail({ workers, tls }) });
else {
  // Beside a whole Typha ours runs whole as well, datastore and all, and as released: built, not stripped of types at start.
  if (workers !== undefined) process.env.TYPHA_WORKERS = `${workers}`;
  const command = [process.execPath, ...profileFlags(), released(), "typha"].join(" ");
  starters.unshift({ name: "cattail", start: () => startOnEtcd({ name: "cattail", command, tls }) });
  starters.push({ name: "against", start: () => startOnEtcd({ name: "against", command: against, tls }) });
}

const results: Result[] = [];
for (const scenario of chosen()) {
  const wanted = starters.filter(({ name }) => flags.only === undefined || flags.only === name);
  const runs: Result[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const turn = rounds === 1 ? "" : `, round ${round} of ${rounds}`;
    for (const { name, start } of wanted) {
      if (!flags.json) console.error(`${scenario.name} (${scenario.says}): ${name}${turn} …`);
      await using subject = await start();
      const run = await scenario.run(subject, clientFlags);
      runs.push({ scenario: scenario.name, server: subject.name, ...run });
    }
  }
  for (const { name } of wanted) {
    const result = middle(runs.filter(({ server }) => server === name));
    results.push(result);
    const { scenario: _, server, ...figures } = rounded(result);
    record({ of: `${scenario.name} ${server}`, figures: { says: scenario.says, server, ...figures } });
    if (flags.json) console.log(JSON.stringify(rounded(result)));
  }
}
if (!flags.json) printTable(results);

function chosen(): readonly Scenario[] {
  const wanted = flags.scenario;
  if (wanted === undefined) return scenarios;
  const clients = /^flat-(\d+)$/.exec(wanted)?.[1];
  if (clients !== undefined) return [flat(Number(clients))];
  const [, many, keys] = /^storm-(\d+)-(\d+)$/.exec(wanted) ?? [];
  if (many !== undefined && keys !== undefined) return [storm(Number(many), Number(keys))];
  const found = scenarios.filter(({ name }) => name === wanted);
  if (found.length > 0) return found;
  console.error(
    `There is no scenario "${wanted}". There are: ${scenarios.map(({ name }) => name).join(", ")}, flat-N, storm-CLIENTS-KEYS`,
  );
  process.exit(1);
}

function rounded(result: Result): Result {
  const entries = Object.entries(result).map(([name, value]) => [
    name,
    typeof value === "number" ? Math.round(value * 1000) / 1000 : value,
  ]);
  return Object.fromEntries(entries) as Result; // the same fields
}

// How much it takes to start: CPU, time and memory of each command from its first instruction to its answer.
//   npm run bench:start -- [--rounds 9] [--only NAME,NAME] [--sources] [--before DIR] [--binary FILE]
//                          [--before-binary FILE] [--against-calicoctl CMD] [--against-typha CMD]
// Measured is what npm installs, or with --sources this checkout. DIR is another checkout whose commands are measured in
// turns with ours. The others are the single executable and the original's programs. Goals: `version` 60 ms of CPU, reading one object 120 ms and 90 MB, a server ready
// in half of what release 0.1 takes.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { type Cluster, clusterPeer, startCluster } from "../../test/kit/cluster.ts";
import { customKinds, installCrds, openCrd } from "../../test/kit/crds.ts";
import { freePort } from "../../test/kit/free-port.ts";
import { record } from "../../test/kit/record.ts";
import { typhaSettings } from "../../test/kit/typha-settings.ts";
import { median } from "../median.ts";
import { makePackage, readObjectCommand } from "./as-package.ts";
import { type CommandUse, type Environment, useOfCommand } from "./use-of-command.ts";
import { useUntil } from "./use-until-ready.ts";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    only: { type: "string" },
    sources: { type: "boolean", default: false },
    before: { type: "string" },
    binary: { type: "string" },
    "before-binary": { type: "string" },
    "against-calicoctl": { type: "string" },
    "against-typha": { type: "string" },
  },
});

type Measure = () => Promise<CommandUse>;
type Row = { readonly what: string; readonly who: string; readonly measure: Measure };

const { HOME, PATH } = process.env;
const plain: Environment = { HOME, PATH };
const only = flags.only?.split(",");
const peer = await clusterPeer();
if (peer.path === undefined) console.log(`without an API server: ${peer.missing}`);
using built = flags.sources ? undefined : await makePackage();
await using cluster = peer.path === undefined || isLocal() ? undefined : await startFilled();
for (const { what, rows } of grouped(rowsOf(cluster))) {
  const uses = new Map<Row, CommandUse[]>(rows.map((row) => [row, []]));
  // The first run of each fills caches and does not count. Then they take turns, so that a busy moment meets all.
  for (const row of rows) await row.measure();
  for (let round = 0; round < Number(flags.rounds); round += 1)
    for (const row of rows) uses.get(row)?.push(await row.measure());
  for (const [{ who }, seen] of uses) {
    console.log(`${what.padEnd(24)} ${who.padEnd(10)} ${describe(seen)}`);
    record({ of: `${what}${flags.sources ? " from sources" : ""}, ${who}`, figures: figuresOf(seen) });
  }
}
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);

/** Whether what was asked for needs no API server. */
function isLocal(): boolean {
  return only?.every((what) => /^(version|help|(first )?demo.*)$/.test(what)) ?? false;
}

async function startFilled(): Promise<Cluster> {
  const started = await startCluster();
  await installCrds(
    started,
    customKinds.map((kind) => openCrd(kind)),
  );
  // As people have it, in YAML.
  const config: unknown = JSON.parse(readFileSync(started.kubeconfig, "utf8"));
  writeFileSync(started.kubeconfig, stringify(config));
  const apiVersion = "crd.projectcalico.org/v1";
  await started.must("POST", `/apis/${apiVersion}/tiers`, { apiVersion, kind: "Tier", metadata: { name: "default" } });
  return started;
}

function rowsOf(api: Cluster | undefined): Row[] {
  const folders = [
    { who: "cattail", folder: built?.folder ?? "." },
    ...(flags.before ? [{ who: "before", folder: flags.before }] : []),
  ];
  const rows = folders.flatMap(({ who, folder }) => {
    const cattail = [process.execPath, join(resolve(folder), "bin/cattail")];
    return [...commands(who, cattail), ...(api === undefined ? [] : onApi({ who, folder, cattail, api }))];
  });
  if (flags.binary) rows.push(...commands("binary", [resolve(flags.binary)]).filter(({ what }) => what === "version"));
  const before = flags["before-binary"];
  if (before) rows.push(...commands("before's", [resolve(before)]).filter(({ what }) => what === "version"));
  return [...rows, ...originals(api)].filter(({ what }) => only?.includes(what) ?? true);
}

function commands(who: string, cattail: readonly string[]): Row[] {
  const ports = async () => ["--port", `${await freePort()}`, "--dashboard-port", `${await freePort()}`];
  const demo = async (says: RegExp, env: Environment = plain) =>
    useUntil({ says }, [...cattail, "demo", ...(await ports())], env);
  const dashboard = /https?:\/\//; // its address
  const uncompiled = { ...plain, NODE_DISABLE_COMPILE_CACHE: "1" }; // as in a fresh clone
  return [
    { what: "version", who, measure: () => useOfCommand([...cattail, "version"], plain) },
    { what: "help", who, measure: () => useOfCommand([...cattail, "--help"], plain) },
    { what: "demo's first line", who, measure: () => demo(/^Cattail/m) },
    { what: "demo", who, measure: () => demo(dashboard) },
    { what: "first demo's first line", who, measure: () => demo(/^Cattail/m, uncompiled) },
    { what: "first demo", who, measure: () => demo(dashboard, uncompiled) },
  ];
}

type OnApi = { readonly who: string; readonly folder: string; readonly cattail: string[]; readonly api: Cluster };

function onApi({ who, folder, cattail, api }: OnApi): Row[] {
  const packaged = join(folder, readObjectCommand);
  const script = existsSync(packaged) ? [packaged] : [join(import.meta.dirname, "read-object.ts"), folder];
  const read = [process.execPath, ...script, api.kubeconfig];
  return [
    { what: "read one object", who, measure: () => useOfCommand(read, plain) },
    { what: "typha ready", who, measure: () => serverReady([...cattail, "typha"], api) },
  ];
}

async function serverReady(command: readonly string[], api: Cluster): Promise<CommandUse> {
  const settings = await typhaSettings({ TYPHA_DATASTORETYPE: "kubernetes", KUBECONFIG: api.kubeconfig });
  const ready = `http://127.0.0.1:${settings.TYPHA_HEALTHPORT}/readiness`;
  return useUntil({ ready }, command, { ...plain, ...settings });
}

function originals(api: Cluster | undefined): Row[] {
  const { "against-calicoctl": calicoctl, "against-typha": typha } = flags;
  const rows: Row[] = [];
  if (calicoctl !== undefined) {
    rows.push({
      what: "help",
      who: "calicoctl",
      measure: () => useOfCommand([...calicoctl.split(/\s+/), "--help"], plain),
    });
    if (api !== undefined) {
      const env = { ...plain, DATASTORE_TYPE: "kubernetes", KUBECONFIG: api.kubeconfig };
      const get = [...calicoctl.split(/\s+/), "get", "tier", "default", "-o", "json", "--allow-version-mismatch"];
      rows.push({ what: "read one object", who: "calicoctl", measure: () => useOfCommand(get, env) });
    }
  }
  if (typha !== undefined && api !== undefined)
    rows.push({ what: "typha ready", who: "original", measure: () => serverReady(typha.split(/\s+/), api) });
  return rows;
}

function grouped(rows: readonly Row[]): { what: string; rows: Row[] }[] {
  return [...Map.groupBy(rows, ({ what }) => what)].map(([what, group]) => ({ what, rows: group }));
}

function figuresOf(seen: readonly CommandUse[]) {
  const of = (read: (use: CommandUse) => number) => {
    const values = seen.map(read).toSorted((a, b) => a - b);
    return { median: round(median(values)), least: round(values[0] ?? 0), most: round(values.at(-1) ?? 0) };
  };
  return { cpuMs: of((use) => use.cpuMs), wallMs: of((use) => use.wallMs), peakRssMb: of((use) => use.peakRssMb) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function describe(seen: readonly CommandUse[]): string {
  const { cpuMs, wallMs, peakRssMb } = figuresOf(seen);
  const text = (figure: { median: number; least: number; most: number }, unit: string) =>
    `${figure.median} ${unit} (${figure.least} to ${figure.most})`;
  return `${text(cpuMs, "ms CPU")}, ${text(wallMs, "ms")}, ${text(peakRssMb, "MB")}`;
}

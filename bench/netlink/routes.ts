// How long do 10,000 routes take to add, list and delete, next to iproute2's `ip`? In a network namespace of its own, in turns, so that both meet the
// same machine; needs root. Ours runs in a process that is there already, as an agent is; `ip` is started for each job, as it is used.
//   npm run bench:netlink [-- --rounds N --routes N]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type KernelChange, type Netlink, openNetlink } from "../../src/base/linux/kernel.ts";
import { freshNamespace, noNamespaces } from "../../test/kit/namespace.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";

type Job = "add" | "list" | "delete";
type Took = { readonly wallMs: number; readonly cpuMs: number };
type Figures = { readonly [job in Job]: Took };

const jobs: readonly Job[] = ["add", "list", "delete"];
const protocol = 80; // so that only the bench's own routes are listed
const gateway = "10.0.0.2";

if (noNamespaces !== false) throw new Error(`this bench ${noNamespaces}`);
const { values: args } = parseArgs({ options: { rounds: { type: "string" }, routes: { type: "string" } } });
const rounds = Number(args.rounds ?? 7);
const count = Number(args.routes ?? 10_000);
const destinations = Array.from(
  { length: count },
  (_, i) => `100.${64 + (i >> 14)}.${(i >> 6) & 255}.${(i & 63) << 2}/30`,
);

const { name, path } = freshNamespace();
const folder = mkdtempSync(join(tmpdir(), "cattail-bench-netlink-"));
try {
  await using netlink = openNetlink({ namespace: path });
  await prepare(netlink);
  const batches = writeBatches();
  const ours: Figures[] = [];
  const theirs: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await measureOurs(netlink));
    theirs.push(measureIp(batches));
  }
  report(ours, theirs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function prepare(netlink: Netlink): Promise<void> {
  await netlink.change({ do: "create", link: { name: "br0", kind: "bridge", up: true } });
  const index = (await netlink.links({ kind: "bridge" }))[0]?.index ?? 0;
  await netlink.change({ do: "create", address: { index, address: "10.0.0.1/24" } });
}

async function measureOurs(netlink: Netlink): Promise<Figures> {
  const changes = (what: "create" | "delete"): KernelChange[] =>
    destinations.map((destination) => ({ do: what, route: { destination, gateway, protocol } }));
  const change = async (what: "create" | "delete"): Promise<void> => {
    const outcomes = await netlink.changeAll(changes(what));
    const refused = outcomes.find((outcome) => outcome.is === "refused");
    if (refused?.is === "refused") throw refused.error;
  };
  const list = async (): Promise<void> => {
    const { length } = await netlink.routes({ protocol, table: 254, family: "inet" });
    if (length !== count) throw new Error(`${length} of ${count} routes listed`);
  };
  return {
    add: await timed(() => change("create")),
    list: await timed(list),
    delete: await timed(() => change("delete")),
  };
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

function writeBatches(): { add: string; delete: string } {
  const batch = (verb: string): string => {
    const file = join(folder, verb);
    writeFileSync(
      file,
      destinations.map((each) => `route ${verb} ${each} via ${gateway} proto ${protocol}\n`).join(""),
    );
    return file;
  };
  return { add: batch("add"), delete: batch("del") };
}

function measureIp(batches: { add: string; delete: string }): Figures {
  return {
    add: timedIp(`-batch ${batches.add}`),
    list: timedIp(`route show proto ${protocol}`),
    delete: timedIp(`-batch ${batches.delete}`),
  };
}

/** The shell's `time` also has the child's processor time, which Node does not tell. */
function timedIp(command: string): Took {
  const script = `TIMEFORMAT='%R %U %S'; time ip -n ${name} ${command} > ${folder}/out`;
  const output = execFileSync("bash", ["-c", `{ ${script}; } 2>&1`], { encoding: "utf8" });
  const [, wall, user, system] = /([\d.]+) ([\d.]+) ([\d.]+)\s*$/.exec(output) ?? [];
  if (wall === undefined || output.trim().includes("\n")) throw new Error(`ip ${command}: ${output}`);
  return { wallMs: Number(wall) * 1000, cpuMs: (Number(user) + Number(system)) * 1000 };
}

function report(ours: readonly Figures[], theirs: readonly Figures[]): void {
  const middle = (all: readonly Figures[], job: Job, of: keyof Took): number =>
    median(all.map((each) => each[job][of]));
  console.log(`${count} routes, middle of ${rounds} rounds, in turns; wall ms (CPU ms)`);
  const figures: { [name: string]: { [name: string]: number } } = {};
  for (const job of jobs) {
    const row = {
      oursMs: middle(ours, job, "wallMs"),
      oursCpuMs: middle(ours, job, "cpuMs"),
      firstMs: ours[0]?.[job].wallMs ?? Number.NaN,
      ipMs: middle(theirs, job, "wallMs"),
      ipCpuMs: middle(theirs, job, "cpuMs"),
    };
    figures[job] = row;
    const show = (ms: number): string => ms.toFixed(1);
    console.log(
      `${job.padEnd(7)} ours ${show(row.oursMs)} (${show(row.oursCpuMs)}), the first time ${show(row.firstMs)};  ip ${show(row.ipMs)} (${show(row.ipCpuMs)});  ours / ip ${(row.oursMs / row.ipMs).toFixed(2)}, CPU ${(row.oursCpuMs / row.ipCpuMs).toFixed(2)}`,
    );
  }
  record({ of: `${count} routes`, figures });
}

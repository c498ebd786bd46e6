// What the routes of a large cluster cost a node: from the start to all of them, from a new block to its route, the CPU of a node on which nothing
// happens while others change, and memory. `cattail node felix`, and beside it the original's Felix, on the same etcd, in turns.
//   npm run bench:node -- [--nodes 500] [--blocks 2000] [--rounds 20] [--idle-seconds 20] [--sources] [--typha] [--together] [--against "calico component felix"] [--before FOLDER] [--turns 1]
// Measured is what npm installs, or with --sources this checkout; each is started once before, which fills caches and does not count.
// --before: another build of Cattail, as a folder with bin/ and dist/ in it, is measured in turns with this one. --turns: so often each; the medians are
// printed at the end.
// --typha: behind a Typha of ours, as in large clusters, instead of straight on etcd. --together: only the memory of everything that a node runs:
// `node run` on one side; Felix, confd and node-services on the other (then --against is the program, "calico", and --confd the folder with its
// conf.d and templates).
// Root; everything happens in a network namespace of its own. Goals: at most half of the original in each.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openNetlink } from "../../../src/base/linux/kernel.ts";
import { type EtcdMember, startEtcd } from "../../../test/kit/etcd.ts";
import { record } from "../../../test/kit/record.ts";
import { blockPath, blockValue, nodePath, nodeValue } from "../../../test/kit/route-nodes/cluster.ts";
import { median } from "../../median.ts";
import { makePackage } from "../../start/as-package.ts";
import { agentOf, type Subject } from "./subject.ts";

const { values: flags } = parseArgs({
  options: {
    nodes: { type: "string", default: "500" },
    blocks: { type: "string", default: "2000" },
    rounds: { type: "string", default: "20" },
    "idle-seconds": { type: "string", default: "20" },
    typha: { type: "boolean", default: false },
    together: { type: "boolean", default: false },
    confd: { type: "string", default: "/etc/calico/confd" },
    sources: { type: "boolean", default: false },
    against: { type: "string" },
    before: { type: "string" },
    turns: { type: "string", default: "1" },
  },
});

if (process.env.CATTAIL_BENCH_INSIDE === undefined) {
  using built = flags.sources ? undefined : await makePackage();
  // With the first process in there ends all that it has started, also when it is killed.
  const alone = ["--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"];
  const again = [...alone, process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const { status } = spawnSync("unshare", again, {
    stdio: "inherit",
    env: { ...process.env, CATTAIL_BENCH_INSIDE: join(resolve(built?.folder ?? "."), "bin/cattail") },
  });
  built?.[Symbol.dispose]();
  process.exit(status ?? 1);
}

const [nodes, blocks] = [Number(flags.nodes), Number(flags.blocks)];
/** Part of what changes: a value that the last subject's turn has written already would be no change, and a Typha would leave it out. */
let turnsMeasured = 0;
const name = (i: number): string => `node-${i}`;
const addressOf = (i: number): string => `172.30.${i >> 8}.${i & 255 || 250}/16`;
const blockOf = (i: number): string => `10.${64 + (i >> 10)}.${(i >> 2) & 255}.${(i & 3) * 64}/26`;

for (const command of [
  "link set lo up",
  "link add eth0 type veth peer name other",
  "link set other up",
  "link set eth0 up",
  `addr add ${addressOf(1)} dev eth0`,
]) {
  execFileSync("ip", command.split(" "));
}
// What agents write there is theirs alone; and the original looks for what the kernel has mounted for programs of its own.
for (const folder of ["/var/lib/calico", "/var/run/calico", "/run/netns"]) {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", folder]);
}
execFileSync("mount", ["-t", "sysfs", "sysfs", "/sys"]);
await using etcd = await startEtcd();
const [member] = etcd.members;
if (member === undefined) throw new Error("no etcd");
await fill(member);
await using netlink = openNetlink();

const cattail = [process.execPath, process.env.CATTAIL_BENCH_INSIDE];
const besides: Record<string, string> = {};
if (flags.typha) {
  const typha = agentOf("typha", [...cattail, "typha"], member.url, {
    TYPHA_DATASTORETYPE: "etcdv3",
    TYPHA_ETCDENDPOINTS: member.url,
  });
  await typha.start();
  besides.FELIX_TYPHAADDR = "127.0.0.1:5473";
  await sleep(5_000);
}
const against = flags.against?.split(" ") ?? [];
if (flags.together) await measureTogether();
else {
  const subjects: Subject[] = [agentOf("cattail", [...cattail, "node", "felix"], member.url, besides)];
  if (flags.before !== undefined) {
    const before = [process.execPath, join(resolve(flags.before), "bin/cattail"), "node", "felix"];
    subjects.unshift(agentOf("before", before, member.url, besides));
  }
  if (against.length > 0) subjects.push(agentOf("original", against, member.url, besides));
  for (const subject of subjects) await warmUp(subject);
  const all = new Map<string, Figures[]>();
  for (let turn = 0; turn < Number(flags.turns); turn++)
    for (const subject of subjects) {
      const figures = await measure(subject, member);
      all.set(subject.name, [...(all.get(subject.name) ?? []), figures]);
    }
  if (Number(flags.turns) > 1) for (const [subject, turns] of all) sayMedians(subject, turns);
}
process.exit();

async function measureTogether(): Promise<void> {
  const bird = {
    CALICO_NETWORKING_BACKEND: "bird",
    BIRD_CONFIG_DIR: "/var/run/calico/config",
    FELIX_VXLANENABLED: "true",
  };
  const of = (name: string, ...words: string[]) => agentOf(name, words, member?.url ?? "", bird);
  const sides: (readonly Subject[])[] = [[of("node run", ...cattail, "node", "run")]];
  if (against.length > 0)
    sides.push([
      of("felix", ...against, "component", "felix"),
      of("confd", ...against, "component", "confd", "--confdir", resolve(flags.confd)),
      of("node-services", ...against, "component", "node", "node-services"),
    ]);
  for (const side of sides) {
    await clean();
    for (const one of side) await one.start();
    await until(
      async () => (await remoteRoutes()).size >= blocks - 4,
      180_000,
      () => side.map((one) => one.words()).join("\n"),
    );
    await sleep(10_000);
    const figures = Object.fromEntries(side.map((one) => [one.name, Math.round(one.residentMb())]));
    console.log(JSON.stringify({ ...figures, load: loadavg()[0] }));
    record({ of: "memory of a node's programs", figures });
    for (const one of side) await one.stop();
  }
}

async function warmUp(subject: Subject): Promise<void> {
  await subject.start();
  await until(
    async () => (await remoteRoutes()).size >= blocks - 4,
    180_000,
    () => subject.words(),
  );
  await subject.stop();
}

type Figures = { readonly [name: string]: number };

function sayMedians(subject: string, turns: readonly Figures[]): void {
  const names = Object.keys(turns[0] ?? {});
  const medians = names.map((figure) => [figure, median(turns.map((one) => one[figure] ?? Number.NaN))]);
  console.log(`${subject}, medians of ${turns.length}: ${JSON.stringify(Object.fromEntries(medians))}`);
}

async function measure(subject: Subject, etcdMember: EtcdMember): Promise<Figures> {
  await clean();
  const startedMs = performance.now();
  await subject.start();
  await until(
    async () => (await remoteRoutes()).size >= blocks - 4,
    180_000,
    () => subject.words(),
  );
  const startMs = performance.now() - startedMs;
  const startCpuMs = 1000 * subject.cpuSeconds();
  await sleep(3_000);
  const addMs: number[] = [];
  for (let i = 0; i < Number(flags.rounds); i++) {
    const cidr = `10.127.${i}.0/26`;
    const writtenMs = performance.now();
    await etcdMember.ask({ do: "put", key: blockPath(cidr), value: JSON.stringify(blockValue(cidr, name(2 + i))) });
    await until(
      async () => (await netlink.routes({ table: 254, protocol: 3 })).some((one) => one.destination === cidr),
      20_000,
    );
    addMs.push(performance.now() - writtenMs);
    await sleep(50);
  }
  const before = subject.cpuSeconds();
  const idleSeconds = Number(flags["idle-seconds"]);
  const endMs = performance.now() + idleSeconds * 1_000;
  let changes = 0;
  while (performance.now() < endMs) {
    const i = 2 + (changes % (nodes - 1));
    const value = JSON.stringify(workloadEndpoint(name(i), changes, turnsMeasured));
    await etcdMember.ask({ do: "put", key: workloadKey(name(i), changes % 50), value });
    changes += 1;
    const dueMs = endMs - idleSeconds * 1_000 + changes * 10;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
  }
  turnsMeasured += 1;
  const idleCpu = (100 * (subject.cpuSeconds() - before)) / idleSeconds;
  const figures = {
    nodes,
    blocks,
    startMs: Math.round(startMs),
    startCpuMs: Math.round(startCpuMs),
    addP50Ms: Math.round(median(addMs) * 10) / 10,
    idleCpuPercent: Math.round(idleCpu * 100) / 100,
    changesPerSecond: Math.round(changes / idleSeconds),
    residentMb: Math.round(subject.residentMb()),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
  console.log(`${subject.name}: ${JSON.stringify(figures)}`);
  record({ of: `routes of a node, ${flags.typha ? "behind a Typha" : "straight on etcd"}, ${subject.name}`, figures });
  await subject.stop();
  for (let i = 0; i < Number(flags.rounds); i++)
    await etcdMember.ask({ do: "delete", key: blockPath(`10.127.${i}.0/26`) });
  return figures;
}

async function remoteRoutes(): Promise<Set<string>> {
  const routes = await netlink.routes({ table: 254, protocol: 3 });
  return new Set(routes.filter(({ gateway }) => gateway !== undefined).map(({ destination }) => destination));
}

async function clean(): Promise<void> {
  await netlink.changeAll([{ do: "delete", link: "vxlan.calico" }]);
  const left = (await netlink.routes({ table: 254 })).filter(({ protocol }) => protocol === 80);
  await netlink.changeAll(
    left.map(({ destination, type, protocol }) => ({ do: "delete", route: { destination, type, protocol } })),
  );
  spawnSync("nft", ["flush", "ruleset"]);
}

async function until(isSo: () => Promise<boolean>, limitMs: number, words = () => ""): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited in vain\n${words()}`);
    await sleep(1);
  }
}

function resourceKey(plural: string, object: string): string {
  return `/calico/resources/v3/projectcalico.org/${plural}/${object}`;
}

function workloadKey(node: string, pod: number): string {
  return resourceKey("workloadendpoints", `default/${node.replaceAll("-", "--")}-k8s-pod${pod}-eth0`);
}

function workloadEndpoint(node: string, change: number, turn: number): unknown {
  return {
    ...{ kind: "WorkloadEndpoint", apiVersion: "projectcalico.org/v3" },
    metadata: {
      name: `${node.replaceAll("-", "--")}-k8s-pod${change % 50}-eth0`,
      ...{
        namespace: "default",
        uid: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c",
        creationTimestamp: "2026-01-01T00:00:00Z",
      },
      labels: {
        change: `${turn}-${change}`,
        "projectcalico.org/namespace": "default",
        "projectcalico.org/orchestrator": "k8s",
      },
    },
    spec: {
      ...{ orchestrator: "k8s", node, pod: `pod${change % 50}`, endpoint: "eth0" },
      ...{
        interfaceName: `cali${change % 50}`,
        ipNetworks: [`10.200.${change % 250}.1/32`],
        profiles: ["kns.default"],
      },
    },
  };
}

async function fill({ ask }: EtcdMember): Promise<void> {
  const put = (key: string, value: unknown) => ask({ do: "put", key, value: JSON.stringify(value) });
  const meta = (object: string) => ({
    metadata: { name: object, uid: "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c", creationTimestamp: "2026-01-01T00:00:00Z" },
  });
  const v3 = { apiVersion: "projectcalico.org/v3" };
  await put(resourceKey("clusterinformations", "default"), {
    ...{ ...v3, kind: "ClusterInformation", ...meta("default") },
    spec: { datastoreReady: true, clusterGUID: "0123456789abcdef0123456789abcdef", clusterType: "k8s" },
  });
  await put(resourceKey("ippools", "all"), {
    ...{ ...v3, kind: "IPPool", ...meta("all") },
    spec: {
      cidr: "10.64.0.0/10",
      vxlanMode: "Always",
      ipipMode: "Never",
      blockSize: 26,
      nodeSelector: "all()",
      allowedUses: ["Workload", "Tunnel"],
    },
  });
  for (let i = 1; i <= nodes; i++) {
    const value = nodeValue({ name: name(i), address: addressOf(i), tunnel: `10.126.${i >> 8}.${i & 255}` });
    await put(nodePath(name(i)), { ...(value as object), ...meta(name(i)) });
  }
  for (let i = 0; i < blocks; i++) await put(blockPath(blockOf(i)), blockValue(blockOf(i), name(1 + (i % nodes))));
}

// From a BGPPeer that is written to a BIRD that has it, the start in a large mesh, and memory: `cattail node bgp` with BIRD 2, and next to it the
// original's confd with BIRD 1.6, on the same API server, in turns.
//   npm run bench:bird -- [--nodes 300] [--rounds 15] [--source] [--against calico --confd FOLDER --bird16 FOLDER]
// --confd: the folder with the original's conf.d and templates; --bird16: the folder with bird and bird6 of 1.6, Debian's or the original's fork.
// Goals: at most half of the original in each.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { crdManifest, customKinds } from "../../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../../../test/kit/cluster.ts";
import { installCrds } from "../../../test/kit/crds.ts";
import { record } from "../../../test/kit/record.ts";
import { median } from "../../median.ts";
import { makePackage } from "../../start/as-package.ts";
import { originalSubject, ourSubject, type Subject } from "./subjects.ts";

const { values: flags } = parseArgs({
  options: {
    nodes: { type: "string", default: "300" },
    rounds: { type: "string", default: "15" },
    starts: { type: "string", default: "3" },
    source: { type: "boolean", default: false },
    against: { type: "string" },
    confd: { type: "string", default: "" },
    bird16: { type: "string", default: "" },
  },
});
const nodes = Number(flags.nodes);

const peer = await clusterPeer();
if (peer.path === undefined) throw new Error(`no API server to measure with: ${peer.missing}`);
const built = flags.source ? undefined : await makePackage();
const folder = mkdtempSync(join(tmpdir(), "cattail-bench-bird-"));
await using cluster = await startCluster();
await installCrds(
  cluster,
  customKinds.map((kind) => crdManifest(kind)),
);
await fill(cluster, nodes);

const edge = { folder, kubeconfig: cluster.kubeconfig, sessions: nodes - 1 };
const program = built === undefined ? resolve("bin/cattail") : join(resolve(built.folder), "bin/cattail");
const subjects: Subject[] = [ourSubject(program, edge)];
if (flags.against !== undefined) {
  subjects.push(
    originalSubject(resolve(flags.against), { ...edge, confd: resolve(flags.confd), bird16: resolve(flags.bird16) }),
  );
}

console.log(`${nodes} nodes, load average ${loadavg()[0]?.toFixed(1)}`);
const startMs = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
try {
  for (let at = 0; at < Number(flags.starts); at += 1) {
    for (const [subject, times] of startMs) {
      if (at > 0) await subject.stop();
      times.push(await subject.start());
    }
  }
  const changes = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    for (const [subject, times] of changes) times.push(await change(subject, round));
  }
  for (const subject of subjects) {
    const [start, changed] = [median(startMs.get(subject) ?? []), median(changes.get(subject) ?? [])];
    const { residentMb, cpuSeconds } = subject.memory();
    console.log(
      `${subject.name}: start to ${nodes - 1} sessions written ${start.toFixed(0)} ms, a BGPPeer until BIRD has it ${changed.toFixed(0)} ms (p50 of ${flags.rounds}), memory ${residentMb.toFixed(0)} MB, processor ${cpuSeconds.toFixed(1)} s`,
    );
    const rounded = {
      startMs: Math.round(start),
      changeMs: Math.round(changed),
      residentMb: Math.round(residentMb),
      cpuSeconds: Math.round(cpuSeconds * 100) / 100,
    };
    record({ of: subject.name, figures: { nodes, ...rounded } });
  }
} finally {
  for (const subject of subjects) await subject.stop();
  rmSync(folder, { recursive: true, force: true });
  built?.[Symbol.dispose]();
}
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);

async function change(subject: Subject, round: number): Promise<number> {
  const address = `10.99.${subjects.indexOf(subject)}.${round + 1}`;
  const name = `bench-${subjects.indexOf(subject)}-${round}`;
  const path = "/apis/crd.projectcalico.org/v1/bgppeers";
  const spec = { peerIP: address, asNumber: 65000 };
  const body = { apiVersion: "crd.projectcalico.org/v1", kind: "BGPPeer", metadata: { name }, spec };
  const seen = subject.session(`Global_${address.replaceAll(".", "_")}`);
  const beginMs = performance.now();
  await cluster.must("POST", path, body);
  const tookMs = (await seen) - beginMs;
  await cluster.must("DELETE", `${path}/${name}`);
  return tookMs;
}

async function fill(into: Cluster, count: number): Promise<void> {
  const crd = (kind: string, name: string, spec: object) => ({
    apiVersion: "crd.projectcalico.org/v1",
    kind,
    metadata: { name },
    spec,
  });
  await into.must(
    "POST",
    "/apis/crd.projectcalico.org/v1/ippools",
    crd("IPPool", "pool", {
      cidr: "10.244.0.0/16",
      ipipMode: "Never",
      vxlanMode: "Never",
      nodeSelector: "all()",
      blockSize: 26,
    }),
  );
  for (let at = 1; at <= count; at += 1) {
    const address = `172.31.${at >> 8}.${at & 255}/16`;
    const annotations = { "projectcalico.org/IPv4Address": address };
    await into.must("POST", "/api/v1/nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `node-${at}`, annotations },
    });
    const cidr = `10.244.${at >> 2}.${(at & 3) * 64}/26`;
    const spec = { cidr, node: `node-${at}`, state: "confirmed", deleted: "false", type: "host" };
    const affinity = crd("BlockAffinity", `node-${at}-${cidr.replaceAll(/[./]/g, "-")}`, spec);
    await into.must("POST", "/apis/crd.projectcalico.org/v1/blockaffinities", affinity);
  }
}

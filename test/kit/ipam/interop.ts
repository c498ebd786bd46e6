// Our IPAM plugin beside the original's on a real datastore, and the audit of what they leave: while containers run, and when all are
// deleted. What only the original does wrong (known-faults of its recordings) is counted apart.
import { join } from "node:path";
import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { type Datastore, openDatastore } from "../../../src/calico/datastore/index.ts";
import type { Finding, FindingCode } from "../../../src/calico/ipam/index.ts";
import { openIpamAccess } from "../../../src/calico/ipam-client/index.ts";
import { openIpamObjects, openResources } from "../../../src/calico/resources/index.ts";
import { startCluster } from "../cluster.ts";
import { installCrds, openCrd } from "../crds.ts";
import { startEtcd } from "../etcd.ts";
import type { Random } from "../random.ts";
import { type AssignmentsPlan, nodeNames } from "./assignments.ts";
import { findingsOf, mendRipe } from "./mend-beside.ts";
import { type Plugins, TwoPlugins, type TwoPluginsDone } from "./two-plugins.ts";

export type InteropPlan = {
  readonly calls: number;
  readonly workers: number;
  readonly kills: number;
  readonly random: Random;
};

export type InteropDone = TwoPluginsDone & {
  /** Handles that count too much: the original leaves them after lost races, and killed calls of either do. */
  readonly handlesTooHigh: number;
  readonly mended: number;
};

export const ourPlugin = join(import.meta.dirname, "..", "..", "..", "bin", "cattail");

/** Throws at the first address that is given twice, and for whatever an audit finds that neither kills nor known faults explain. */
export async function interopOnEtcd(original: string, plan: InteropPlan): Promise<InteropDone> {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("an etcd without members");
  const endpoints = [`http://127.0.0.1:${member.port}`];
  await using datastore = await openDatastore({ type: "etcdv3", endpoints }, { clock: systemClock, log: silentLog });
  const plugins: Plugins = { original, ours: ourPlugin };
  const access = { datastore_type: "etcdv3", etcd_endpoints: endpoints[0] };
  return await interop(datastore, { plugins, access, plan });
}

export async function interopOnKubernetes(original: string, plan: InteropPlan): Promise<InteropDone> {
  await using cluster = await startCluster();
  await installCrds(
    cluster,
    kinds.map((kind) => openCrd(kind)),
  );
  for (const name of nodeNames(nodeCount)) {
    await cluster.must("POST", "/api/v1/nodes", { kind: "Node", apiVersion: "v1", metadata: { name } });
  }
  const { kubeconfig } = cluster;
  const options = { type: "kubernetes", kubeconfig, streamLists: false } as const;
  await using datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
  const plugins: Plugins = { original, ours: ourPlugin };
  const access = { datastore_type: "kubernetes", policy: { type: "k8s" }, kubernetes: { kubeconfig } };
  return await interop(datastore, { plugins, access, plan });
}

const nodeCount = 4;
const kinds = [
  "IPAMBlock",
  "BlockAffinity",
  "IPAMHandle",
  "IPAMConfig",
  "IPPool",
  "IPReservation",
  "ClusterInformation",
] as const;

type Setting = { readonly plugins: Plugins; readonly access: object; readonly plan: InteropPlan };

async function interop(datastore: Datastore, { plugins, access: how, plan }: Setting): Promise<InteropDone> {
  const pool = { cidr: "10.88.0.0/23", blockSize: 29, firstAddress: "10.88.0.0" };
  const nodes = nodeCount;
  await prepare(datastore, { pool, nodes });
  using both = new TwoPlugins(plugins, { ...plan, nodes, named: 0.1, pool, datastore: how });
  await both.run();
  const audited: AssignmentsPlan = {
    count: 0,
    nodes,
    workers: 0,
    seed: 0,
    failsOneIn: 1,
    killsOneIn: 1,
    atMostMs: 0,
    pool,
  };
  const access = openIpamAccess(datastore, { clock: systemClock, random: Math.random });
  const of = { objects: openIpamObjects(datastore), access, live: both.live, plan: audited };
  const running = await findingsOf(of);
  refuse(running, plan.kills > 0 ? leftByKills : leftByTheOriginal, "while containers run");
  await both.deleteAll();
  const deleted = await findingsOf(of);
  refuse(deleted, plan.kills > 0 ? leftByKills : leftByTheOriginal, "when all is deleted");
  const { results } = await mendRipe(of, new Map(), { unfinishedMs: 0, leakMs: 0 });
  refuse(await findingsOf(of), new Set(), "when all is mended");
  return {
    ...both.done,
    handlesTooHigh: deleted.filter(({ code }) => code === "HANDLE_COUNTS_TOO_MUCH").length,
    mended: results.filter(({ outcome }) => outcome.is === "mended").length,
  };
}

const leftByTheOriginal: ReadonlySet<FindingCode> = new Set(["HANDLE_COUNTS_TOO_MUCH"]);
const leftByKills: ReadonlySet<FindingCode> = new Set([
  "HANDLE_COUNTS_TOO_MUCH",
  "ADDRESS_LEAKED",
  "CLAIM_UNFINISHED",
  "AFFINITY_WITHOUT_BLOCK",
  "AFFINITY_STALE",
]);

function refuse(findings: readonly Finding[], allowed: ReadonlySet<FindingCode>, when: string): void {
  const wrong = findings.find(({ code }) => !allowed.has(code));
  if (wrong !== undefined) throw new Error(`${when} an audit finds ${wrong.code}: ${wrong.says}`);
}

type Prepared = { readonly pool: { readonly cidr: string; readonly blockSize: number }; readonly nodes: number };

async function prepare(datastore: Datastore, { pool, nodes }: Prepared): Promise<void> {
  const resources = openResources(datastore, { clock: systemClock });
  const { cidr, blockSize } = pool;
  await resources.apply("IPPool", v3("IPPool", "interop", { cidr, blockSize, nodeSelector: "all()" }));
  await resources.apply("ClusterInformation", v3("ClusterInformation", "default", { datastoreReady: true }));
  // In Kubernetes they are there: Calico's nodes are a view of them.
  if (datastore.flavour === "kubernetes") return;
  for (const name of nodeNames(nodes)) await resources.apply("Node", v3("Node", name, {}));
}

function v3(kind: string, name: string, spec: object) {
  return { apiVersion: "projectcalico.org/v3", kind, metadata: { name }, spec };
}

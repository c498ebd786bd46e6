// Sequences on several nodes at once, each node with its own random numbers, audited after each; stops at the first that leaves something.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { crdManifest, customKinds } from "../../../src/calico/kinds/index.ts";
import { type Cluster, startCluster } from "../cluster.ts";
import { installCrds } from "../crds.ts";
import { freePort } from "../free-port.ts";
import { seededRandom } from "../random.ts";
import { CampaignNode } from "./campaign-node.ts";
import { playSequence } from "./play-sequence.ts";

export type CniCampaign = {
  readonly sequences: number;
  readonly seed: number;
  readonly nodes: number;
  /** Of ten sequences so many on nodes with an agent. */
  readonly residentOfTen: number;
  readonly atMostMs: number;
  readonly plugins?: string | undefined;
};

export type CampaignFigures = {
  sequences: number;
  withAgent: number;
  calls: number;
  added: number;
  failed: number;
  deleted: number;
  pluginsKilled: number;
  agentsKilled: number;
  apiFaults: number;
  seconds: number;
};

export type Told = (figures: CampaignFigures) => void;

export async function runCniCampaign(plan: CniCampaign, tell: Told = () => undefined): Promise<CampaignFigures> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-cni-campaign-"));
  // Agents are killed and started hundreds of times: what Node has compiled is kept.
  process.env.NODE_COMPILE_CACHE ??= resolve("node_modules/.cache/cattail");
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = started.use(await startCluster());
  const token = await prepare(cluster, plan.nodes);
  const startedMs = performance.now();
  const figures: CampaignFigures = {
    ...{ sequences: 0, withAgent: 0, calls: 0, added: 0, failed: 0, deleted: 0 },
    ...{ pluginsKilled: 0, agentsKilled: 0, apiFaults: 0, seconds: 0 },
  };
  let next = 0;
  let wrong: Error | undefined;
  const work = async (at: number) => {
    const isResident = (at * 10) / plan.nodes < plan.residentOfTen;
    await using node = await makeNode({ cluster, token, folder, plan, at, isResident });
    while (next < plan.sequences && wrong === undefined && performance.now() - startedMs < plan.atMostMs) {
      const number = next;
      next += 1;
      const random = seededRandom(plan.seed * 1_000_003 + number);
      const played = await playSequence({ cluster, node, random, prefix: `s${number}` });
      if (played.findings.length > 0) {
        wrong ??= leak({ number, seed: plan.seed, isResident, ...played });
        return;
      }
      figures.sequences += 1;
      figures.withAgent += isResident ? 1 : 0;
      for (const name of ["added", "failed", "deleted"] as const) figures[name] += played[name];
      for (const name of ["calls", "pluginsKilled", "agentsKilled", "apiFaults"] as const) {
        figures[name] += node.counts[name];
        node.counts[name] = 0;
      }
      figures.seconds = (performance.now() - startedMs) / 1000;
      tell(figures);
    }
  };
  await Promise.all(Array.from({ length: plan.nodes }, (_, at) => work(at)));
  if (wrong !== undefined) throw wrong;
  return figures;
}

type Leak = {
  readonly number: number;
  readonly seed: number;
  readonly isResident: boolean;
  readonly story: readonly string[];
  readonly findings: readonly string[];
};

function leak({ number, seed, isResident, story, findings }: Leak): Error {
  const how = isResident ? "with an agent" : "without an agent";
  return new Error(
    `sequence ${number} of seed ${seed} (${how}) left:\n  ${findings.join("\n  ")}\nafter:\n  ${story.join("\n  ")}`,
  );
}

type Making = {
  readonly cluster: Cluster;
  readonly token: string;
  readonly folder: string;
  readonly plan: CniCampaign;
  readonly at: number;
  readonly isResident: boolean;
};

async function makeNode({ cluster, token, folder, plan, at, isResident }: Making): Promise<CampaignNode> {
  const port = await freePort();
  const kubeconfig = join(folder, `n${at}.kubeconfig`);
  const context = { name: "c", context: { cluster: "c", user: "u" } };
  const clusters = [{ name: "c", cluster: { server: `http://127.0.0.1:${port}` } }];
  const users = [{ name: "u", user: {} }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts: [context], "current-context": "c" }));
  const families = at % 2 === 0 ? "4" : "46";
  return new CampaignNode({
    ...{ name: `n${at}`, folder: join(folder, `n${at}`), plugins: plan.plugins },
    ...{ cluster, kubeconfig, port, token, isResident, families },
  });
}

/** What a cluster has before its first pod; the token of one who may do what the plugin and the agent need. */
async function prepare(cluster: Cluster, nodes: number): Promise<string> {
  const manifests = customKinds.map((kind) => crdManifest(kind));
  await installCrds(cluster, manifests);
  const group = "/apis/crd.projectcalico.org/v1";
  const make = (plural: string, kind: string, name: string, spec: object) =>
    cluster.must("POST", `${group}/${plural}`, {
      apiVersion: "crd.projectcalico.org/v1",
      kind,
      metadata: { name },
      spec,
    });
  await make("clusterinformations", "ClusterInformation", "default", { datastoreReady: true });
  const pool = {
    ipipMode: "Never",
    vxlanMode: "Never",
    natOutgoing: true,
    nodeSelector: "all()",
    allowedUses: ["Workload"],
  };
  await make("ippools", "IPPool", "four", { ...pool, cidr: "10.77.0.0/16", blockSize: 26 });
  await make("ippools", "IPPool", "six", { ...pool, cidr: "fd00:77::/64", blockSize: 122 });
  for (let at = 0; at < nodes; at += 1)
    await cluster.must("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: `n${at}` } });
  const account = { kind: "ServiceAccount", name: "campaign", namespace: "default" } as const;
  const token = await cluster.makeToken("campaign", { seconds: 24 * 3600 });
  await cluster.grant("campaign", account, [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]);
  return token;
}

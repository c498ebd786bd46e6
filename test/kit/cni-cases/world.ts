// Servers, accounts and kubeconfigs for the plugin's cases and campaigns: an API server, an etcd, and a proxy that makes races.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crdManifest, customKinds } from "../../../src/calico/kinds/index.ts";
import { type Cluster, kubeconfigText, type Rule, startCluster } from "../cluster.ts";
import { installCrds } from "../crds.ts";
import { startEtcd } from "../etcd.ts";
import type { StoreKind } from "../ipam-cases/case.ts";
import type { CaseStore } from "../ipam-cases/case-store.ts";
import { EtcdStore } from "../ipam-cases/etcd-store.ts";
import { KubeStore } from "../ipam-cases/kube-store.ts";
import { type Meddler, startMeddler } from "../ipam-cases/meddler.ts";

const calico = ["projectcalico.org", "crd.projectcalico.org"];
const readPods = { apiGroups: [""], resources: ["pods", "nodes", "namespaces"], verbs: ["get"] };
const markPods = { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] };
const all = ["get", "list", "create", "update", "delete"];
const ofIpam = ["blockaffinities", "ipamblocks", "ipamhandles"];
const others = ["clusterinformations", "ippools", "ipreservations", "ipamconfigurations", "ipamconfigs"];

/** Exactly what the original's manifest allows its plugin; what the hard-way guide allows it; nothing. */
const cniRights: { readonly [name in "cni" | "seed" | "none"]: readonly Rule[] } = {
  cni: [
    readPods,
    markPods,
    { apiGroups: calico, resources: [...ofIpam, ...others], verbs: all },
    { apiGroups: ["kubevirt.io"], resources: ["virtualmachineinstances", "virtualmachines"], verbs: ["get"] },
  ],
  seed: [
    readPods,
    markPods,
    { apiGroups: ["crd.projectcalico.org"], resources: ofIpam, verbs: all },
    {
      apiGroups: ["crd.projectcalico.org"],
      resources: ["ipamconfigs", "clusterinformations", "ippools"],
      verbs: ["get", "list"],
    },
  ],
  none: [],
};

export type CniServers = AsyncDisposable & {
  readonly cluster: Cluster;
  readonly etcdUrl: string;
  readonly stores: { readonly [kind in StoreKind]: CaseStore };
  readonly kube: KubeStore;
  readonly meddler: Meddler;
  readonly kubeconfigs: { readonly [name in keyof typeof cniRights | "meddled"]: string };
  /** Of servers that nodes must reach. */
  readonly ports: readonly number[];
};

export async function startCniServers(): Promise<CniServers> {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "cattail-cni-servers-"));
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const [cluster, etcd] = await Promise.all([startCluster(), startEtcd()]);
  started.use(cluster);
  started.use(etcd);
  const manifests = customKinds.map((kind) => crdManifest(kind));
  await installCrds(cluster, manifests);
  const written = (name: string, text: string) => {
    const path = join(folder, `${name}.kubeconfig`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const tokens = new Map<string, string>();
  for (const [name, rules] of Object.entries(cniRights)) {
    const account = `golden-${name}`;
    tokens.set(name, await cluster.makeToken(account));
    await cluster.grant(account, { kind: "ServiceAccount", name: account, namespace: "default" }, rules);
  }
  const ofAccount = (name: string) =>
    written(name, kubeconfigText({ server: cluster.server, dir: cluster.dir, user: { token: tokens.get(name) } }));
  const kube = new KubeStore(cluster);
  const meddler = started.use(await startMeddler(cluster, kube, tokens.get("cni") ?? ""));
  const [member] = etcd.members;
  if (member === undefined) throw new Error("no etcd");
  const kubeconfigs = {
    cni: ofAccount("cni"),
    seed: ofAccount("seed"),
    none: ofAccount("none"),
    meddled: written("meddled", plainKubeconfig(meddler.server)),
  };
  const owned = started.move();
  return {
    cluster,
    etcdUrl: member.url,
    stores: { kubernetes: kube, etcdv3: new EtcdStore(member, kube) },
    kube,
    meddler,
    kubeconfigs,
    ports: [cluster.port, portOf(member.url), portOf(meddler.server)],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function plainKubeconfig(server: string): string {
  return JSON.stringify({
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  });
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

// A node's start-up where the recorded cases do not go: etcd and a folder as datastore, an API server that is away for a while though nobody asked to wait,
// an account without rights, affinities of an old release, and an address that changes while the monitor runs.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isRecord, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openNetlink } from "../../src/base/linux/kernel.ts";
import { openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { addressMonitorPart } from "../../src/node/startup/index.ts";
import { type Cluster, clusterPeer, kubeconfigText, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import type { StartupCase } from "../kit/startup/case.ts";
import { shapeOf } from "../kit/startup/case.ts";
import { partWorld } from "../kit/startup/part-world.ts";
import { StartupStage } from "../kit/startup/stage.ts";
import { StartupStore } from "../kit/startup/store.ts";

const peer = await clusterPeer();
const machine: StartupCase = {
  name: "",
  about: "",
  env: {},
  interfaces: [{ name: "eth0", addrs: ["172.30.0.11/24"] }],
  expect: { rc: 0, objects: {}, gone: [], nodes: {}, files: {}, log: [] },
};
const environment = {
  NODENAME: "n1",
  IP: "autodetect",
  CALICO_NETWORKING_BACKEND: "bird",
  CLUSTER_TYPE: "k8s,bgp",
  CALICO_DISABLE_FILE_LOGGING: "true",
  FELIX_IPV6SUPPORT: "false",
};
const limitMs = 60_000;
const felixDefaults = {
  bpfConnectTimeLoadBalancing: "TCP",
  bpfHostNetworkedNATWithoutCTLB: "Enabled",
  bpfLogLevel: "",
  floatingIPs: "Disabled",
  nftablesFlowTableOffload: "Disabled",
  nftablesMode: "Auto",
};

const noEtcd = noNamespaces || ((await etcdMissing()) ?? false);
test("on etcd everything is made, the Node too, and a second start writes nothing", { skip: noEtcd }, async () => {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("no etcd");
  using stage = new StartupStage();
  await stage.prepare(machine, member.port);
  const env = {
    ...environment,
    AS: "1.10",
    CALICO_K8S_NODE_REF: "kube-1",
    DATASTORE_TYPE: "etcdv3",
    ETCD_ENDPOINTS: `http://127.0.0.1:${member.port}`,
  };
  const first = await stage.run(["startup"], env, limitMs);
  equal(first.code, 0, first.output);
  const stored = async () => {
    const { pairs = [] } = await member.ask({ do: "list", key: "/calico/" });
    return new Map(pairs.map(({ key, value, modRevision }) => [key, { value, modRevision }]));
  };
  const root = "/calico/resources/v3/projectcalico.org/";
  const after = await stored();
  const specs = Object.fromEntries(
    [...after].map(([key, { value }]) => {
      const object: unknown = JSON.parse(value);
      ok(
        isRecord(object) && isRecord(object.metadata) && object.metadata.uid && object.metadata.creationTimestamp,
        key,
      );
      return [key.replace(root, ""), shapeOf(String(object.kind), object)];
    }),
  );
  deepEqual(specs, {
    "bgpconfigurations/default": { logSeverityScreen: "Info", serviceLoadBalancerAggregation: "Enabled" },
    "clusterinformations/default": { clusterGUID: "<id>", clusterType: "bgp,k8s", datastoreReady: true },
    "felixconfigurations/default": { ...felixDefaults, logSeverityScreen: "Info", reportingInterval: "0s" },
    "felixconfigurations/node.n1": { ...felixDefaults, defaultEndpointToHostAction: "Return" },
    "ipamconfigurations/default": {
      autoAllocateBlocks: true,
      kubeVirtVMAddressPersistence: "Enabled",
      strictAffinity: false,
    },
    "ippools/default-ipv4-ippool": {
      allowedUses: ["Workload", "Tunnel"],
      assignmentMode: "Automatic",
      blockSize: 26,
      cidr: "192.168.0.0/16",
      ipipMode: "Never",
      natOutgoing: true,
      nodeSelector: "all()",
      vxlanMode: "Never",
    },
    "nodes/n1": {
      bgp: { asNumber: 65546, ipv4Address: "172.30.0.11/24" },
      interfaces: [{ name: "eth0", addresses: ["172.30.0.11"] }],
      orchRefs: [{ nodeName: "kube-1", orchestrator: "k8s" }],
    },
    "tiers/default": { defaultAction: "Deny", order: 1_000_000 },
    "tiers/kube-admin": { defaultAction: "Pass", order: 1000 },
    "tiers/kube-baseline": { defaultAction: "Pass", order: 10_000_000 },
  });
  equal(stage.files()["lib/nodename"], "n1");
  const again = await stage.run(["startup"], env, limitMs);
  equal(again.code, 0, again.output);
  deepEqual(await stored(), after);
});

test("on etcd a Node is not made where Calico does not manage the network, and an unusable kubeconfig is said and left", {
  skip: noEtcd,
}, async () => {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("no etcd");
  using stage = new StartupStage();
  await stage.prepare(machine, member.port);
  const env = {
    ...environment,
    CALICO_NETWORKING_BACKEND: "none",
    KUBECONFIG: "/nonexistent/kubeconfig",
    DATASTORE_TYPE: "etcdv3",
    ETCD_ENDPOINTS: `http://127.0.0.1:${member.port}`,
  };
  const ran = await stage.run(["startup"], env, limitMs);
  equal(ran.code, 0, ran.output);
  match(ran.output, /\[WARNING\].*of Kubernetes cannot be used; its part is skipped.*nonexistent/);
  const { pairs = [] } = await member.ask({ do: "list", key: "/calico/" });
  deepEqual(
    pairs.filter(({ key }) => key.includes("/nodes/")),
    [],
  );
  ok(pairs.some(({ key }) => key.endsWith("/clusterinformations/default")));
  // The end of start-up has something to write there: it fails.
  const bird = { ...env, CALICO_NETWORKING_BACKEND: "bird" };
  equal((await stage.run(["startup", "--complete-startup"], bird, limitMs)).code, 1);
  equal((await stage.run(["shutdown"], env, limitMs)).code, 0);
});

test("in a folder the Node is made, and found again", { skip: noNamespaces }, async (t) => {
  const path = mkdtempSync(join(tmpdir(), "cattail-startup-folder-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  using stage = new StartupStage();
  await stage.prepare(machine);
  const env = { ...environment, DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: path };
  for (const _ of ["first", "second"]) {
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 0, ran.output);
  }
  ok(readdirSync(path).length > 0);
  await using datastore = await openDirectoryDatastore({ path, clock: systemClock, log: silentLog });
  const resources = openResources(datastore);
  const { spec } = await resources.get("Node", { namespace: "", name: "n1" });
  deepEqual(spec.bgp, { ipv4Address: "172.30.0.11/24" });
  equal((await resources.list("IPPool")).items.length, 1);
  const tunnel = await stage.run(["allocate-tunnel-addrs", "--run-once"], env, limitMs);
  equal(tunnel.code, 0, tunnel.output);
});

describe("start-up on an API server", { skip: noNamespaces || (peer.missing ?? false) }, () => {
  let cluster: Cluster;
  let store: StartupStore;
  before(async () => {
    cluster = await startCluster();
    await installCrds(
      cluster,
      customKinds.map((kind) => crdManifest(kind)),
    );
    store = new StartupStore(cluster);
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  async function prepared(user?: string): Promise<{ stage: StartupStage; env: { [name: string]: string } }> {
    await store.clear();
    await store.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
    const stage = new StartupStage();
    await stage.prepare(machine, cluster.port);
    const pair = { "client-certificate": join(cluster.dir, "admin.crt"), "client-key": join(cluster.dir, "admin.key") };
    const file = join(stage.folder, "kubeconfig");
    const kubeconfig = {
      server: cluster.server,
      dir: cluster.dir,
      user: { ...pair, ...(user === undefined ? {} : { as: user }) },
    };
    writeFileSync(file, kubeconfigText(kubeconfig));
    return { stage, env: { ...environment, NO_DEFAULT_POOLS: "true", DATASTORE_TYPE: "kubernetes", KUBECONFIG: file } };
  }

  test("a server that is away at first is waited for, though nobody asked to", async () => {
    const { stage, env } = await prepared();
    using _stage = stage;
    stage.refuse(4);
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 0, ran.output);
    match(ran.output, /Hit error connecting to datastore - retry/);
  });

  test("an account without rights is told all of them at once, and nothing is written", async () => {
    const { stage, env } = await prepared("golden-nobody");
    using _stage = stage;
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 1, ran.output);
    match(ran.output, /Rights are missing, nothing was written/);
    for (const text of [
      'apiGroups: [""]',
      'resources: ["nodes"]',
      '"blockaffinities"',
      '"clusterinformations"',
      '"felixconfigurations"',
      '"bgpconfigurations"',
      '"ipamconfigs"',
      "Terminating",
    ]) {
      ok(ran.output.includes(text), `${text} is not in ${ran.output}`);
    }
    deepEqual([...(await store.snapshot()).keys()], []);
    deepEqual(stage.files(), {});
  });

  test("rights to read alone: what would be written is listed, and nothing is", async () => {
    const { stage, env } = await prepared("golden-reader");
    using _stage = stage;
    const group = "rbac.authorization.k8s.io";
    await store.apply({
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: "golden-reader" },
      ...{ rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list"] }] },
    });
    await store.apply({
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "golden-reader" },
      ...{
        roleRef: { apiGroup: group, kind: "ClusterRole", name: "golden-reader" },
        subjects: [{ kind: "User", apiGroup: group, name: "golden-reader" }],
      },
    });
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 1, ran.output);
    ok(ran.output.includes('  resources: ["nodes/status"]\n  verbs: ["update"]'), ran.output);
    const created = '["bgpconfigurations", "clusterinformations", "felixconfigurations", "ipamconfigs", "tiers"]';
    ok(ran.output.includes(`  resources: ${created}\n  verbs: ["create"]`), ran.output);
    deepEqual(await store.nodes(), { n1: { annotations: {}, networkUnavailable: null } });
    deepEqual([...(await store.snapshot()).keys()], []);
  });

  test("affinities that an old release wrote get their labels", async () => {
    const { stage, env } = await prepared();
    using _stage = stage;
    const metadata = { name: "n1-10-50-0-0-26" };
    const spec = { cidr: "10.50.0.0/26", node: "n1", state: "confirmed", deleted: "false" };
    await store.apply({ apiVersion: "crd.projectcalico.org/v1", kind: "BlockAffinity", metadata, spec });
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 0, ran.output);
    const [affinity] = await store.list("BlockAffinity");
    const { labels } = (affinity?.metadata ?? {}) as { labels?: { [name: string]: string } };
    deepEqual(Object.keys(labels ?? {}).sort(), [
      "projectcalico.org/affinity-type",
      "projectcalico.org/hostname-hash",
      "projectcalico.org/ip-version",
    ]);
  });

  test("an address that changes is on the Node long before the next look is due", async () => {
    const { stage, env } = await prepared();
    using _stage = stage;
    const ran = await stage.run(["startup"], env, limitMs);
    equal(ran.code, 0, ran.output);
    const { path } = stage.namespace;
    const stop = new AbortController();
    await using world = await partWorld("n1", cluster);
    const part = addressMonitorPart({ environment: { ...env, AUTODETECT_POLL_INTERVAL: "1h" }, namespace: path });
    const running = part.run(world, stop.signal);
    await eventually(() => world.reports.length > 0, "the first look");
    {
      await using netlink = openNetlink({ namespace: path });
      const index = (await netlink.link("eth0"))?.index ?? 0;
      await netlink.change({ do: "create", address: { index, address: "172.31.7.7/16" } });
      await netlink.change({ do: "delete", address: { index, address: "172.30.0.11/24" } });
    }
    const address = async () => {
      const { n1 } = await store.nodes();
      return (n1 as { annotations: { [name: string]: string } }).annotations["projectcalico.org/IPv4Address"];
    };
    await eventually(async () => (await address()) === "172.31.7.7/16", "the new address on the Node");
    stop.abort();
    await running;
  });
});

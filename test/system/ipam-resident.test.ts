// The resident cache of address management on a real API server and a real etcd: its watches are narrowed by the server, what it writes is
// what others read, and many requests at a time share writes.
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, describe, test } from "node:test";
import { addressText, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, openEtcdDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { audit } from "../../src/calico/ipam/index.ts";
import { readAudited } from "../../src/calico/ipam-audit/index.ts";
import { type Ipam, openIpam, openIpamAccess } from "../../src/calico/ipam-client/index.ts";
import { openResident } from "../../src/calico/ipam-resident/index.ts";
import { crdManifest } from "../../src/calico/kinds/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { startEtcd } from "../kit/etcd.ts";
import { eventually } from "../kit/eventually.ts";

const peer = await clusterPeer(); // which needs etcd, too
const kinds = ["IPPool", "IPReservation", "BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"] as const;
const edge = { clock: systemClock, random: Math.random };
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());

const subjects: { readonly name: string; open(): Promise<Datastore> }[] = [
  {
    name: "kube-apiserver",
    async open() {
      const cluster = stack.use(await startCluster());
      await installCrds(
        cluster,
        kinds.map((kind) => crdManifest(kind)),
      );
      for (const name of ["n1", "n10"]) {
        await cluster.must("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
      }
      const { kubeconfig } = cluster;
      return await openKubernetes({ kubeconfig, clientQps: -1 }, { clock: systemClock, log: silentLog });
    },
  },
  {
    name: "etcd",
    async open() {
      const etcd = stack.use(await startEtcd());
      const datastore = await openEtcdDatastore({ endpoints: etcd.members.map(({ url }) => url) });
      for (const name of ["n1", "n10"]) await openResources(datastore).create("Node", { metadata: { name }, spec: {} });
      return datastore;
    },
  },
];

for (const { name, open } of subjects) {
  describe(`the resident cache on ${name}`, { skip: peer.missing ?? false }, () => {
    test("sixteen at a time beside another program and another node: each has its own address, and all go back", async () => {
      const datastore = stack.use(await open());
      await openResources(datastore).create("IPPool", {
        metadata: { name: "p" },
        spec: { cidr: "10.65.0.0/24", blockSize: 28 },
      });
      const ending = new AbortController();
      stack.defer(() => ending.abort());
      const resident = openResident({ ...edge, datastore, node: "n1", signal: ending.signal });
      const other = openResident({ ...edge, datastore, node: "n10", signal: ending.signal });
      const direct = openIpam(openIpamAccess(datastore, edge), edge);
      await eventually(() => resident.isWarm && other.isWarm, "the caches are fed");
      const names = Array.from({ length: 16 }, (_, at) => `pod-${at}`);
      const taken = await Promise.all(
        names.flatMap((pod) => [
          add(resident, pod, "n1"),
          add(other, `other-${pod}`, "n10"),
          ...(pod.endsWith("5") ? [add(direct, `direct-${pod}`, "n1")] : []),
        ]),
      );
      equal(new Set(taken).size, taken.length);
      deepEqual(await handleFaults(datastore), []);
      await Promise.all(
        names.flatMap((pod) => [
          resident.releaseByHandle(pod),
          other.releaseByHandle(`other-${pod}`),
          resident.releaseByHandle(`direct-${pod}`),
        ]),
      );
      const { pools } = await direct.getUtilization();
      equal(pools[0]?.inUse, 0n);
      deepEqual((await openResources(datastore).list("IPAMHandle")).items, []);
    });
  });
}

async function add(ipam: Ipam, pod: string, node: string): Promise<string> {
  const attributes = { node, pod, namespace: "default" };
  const { ipv4 } = await ipam.autoAssign({ node, use: "Workload", handle: pod, attributes, ipv4: { count: 1 } });
  const [given] = ipv4.addresses;
  ok(given !== undefined);
  return addressText(4, given.address.first);
}

/** What an audit has against blocks and handles; that no pod has the addresses is as it should be here. */
async function handleFaults(datastore: Datastore): Promise<string[]> {
  const { audited } = await readAudited({
    datastore,
    resources: openResources(datastore),
    facts: openIpamAccess(datastore, edge),
    services: undefined,
    loadBalancers: undefined,
    clock: systemClock,
    signal: AbortSignal.timeout(60_000),
  });
  return audit(audited).findings.flatMap(({ code, says }) => (code === "ADDRESS_LEAKED" ? [] : [says]));
}

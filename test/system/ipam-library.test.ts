// The library of address management on every datastore: the same answers, several workers at once, services' blocks, and what an old
// release has left. Also the program on a folder, in several processes at a time.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { addressText, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore, type Datastore, openDatastore } from "../../src/calico/datastore/index.ts";
import { openIpam, openIpamAccess } from "../../src/calico/ipam-client/index.ts";
import { crdManifest } from "../../src/calico/kinds/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { Cattail } from "../kit/cattail-process.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { type EtcdCluster, startEtcd } from "../kit/etcd.ts";

const peer = await clusterPeer();
const edge = { clock: systemClock, random: Math.random };
const kinds = [
  "IPPool",
  "IPReservation",
  "ClusterInformation",
  "BlockAffinity",
  "IPAMBlock",
  "IPAMHandle",
  "IPAMConfig",
] as const;
const folder = mkdtempSync(join(tmpdir(), "cattail-ipam-library-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Subject = { readonly name: string; readonly skip: string | false; readonly open: () => Promise<Datastore> };
let cluster: Cluster | undefined;
let etcd: EtcdCluster | undefined;
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await etcd?.[Symbol.asyncDispose]();
});

const subjects: readonly Subject[] = [
  { name: "memory", skip: false, open: async () => createMemoryDatastore({ clock: systemClock }) },
  {
    name: "folder",
    skip: false,
    open: () => {
      const path = mkdtempSync(join(folder, "objects-"));
      return openDatastore({ type: "directory", path, durable: false }, { clock: systemClock, log: silentLog });
    },
  },
  {
    name: "etcd",
    skip: peer.missing ?? false,
    async open() {
      etcd = await startEtcd();
      const endpoints = etcd.members.map(({ url }) => url);
      return await openDatastore({ type: "etcdv3", endpoints }, { clock: systemClock, log: silentLog });
    },
  },
  {
    name: "kubernetes",
    skip: peer.missing ?? false,
    async open() {
      cluster = await startCluster();
      const manifests = kinds.map((kind) => crdManifest(kind));
      await installCrds(cluster, manifests);
      const settings = { kubeconfig: cluster.kubeconfig, clientQps: -1, streamLists: false };
      return await openDatastore({ type: "kubernetes", ...settings }, { clock: systemClock, log: silentLog });
    },
  },
];

/** What no datastore writes, because the key is no object's. */
async function etcdPut(subject: string, key: string): Promise<void> {
  if (subject === "etcd") await etcd?.members[0]?.ask({ do: "put", key, value: "{}" });
}

async function etcdKeys(subject: string, prefix: string): Promise<readonly string[]> {
  const answer = subject === "etcd" ? await etcd?.members[0]?.ask({ do: "list", key: prefix }) : undefined;
  return (answer?.pairs ?? []).map(({ key }) => key);
}

for (const { name, skip, open } of subjects) {
  describe(`address management on ${name}`, { skip }, () => {
    let datastore: Datastore;
    before(async () => {
      datastore = await open();
      const resources = openResources(datastore);
      for (const node of ["n1", "n2", "n3"]) {
        if (datastore.flavour === "etcdv3") await resources.create("Node", { metadata: { name: node }, spec: {} });
        else await datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name: node } });
      }
      await resources.create("IPPool", { metadata: { name: "pods" }, spec: { cidr: "10.9.0.0/26", blockSize: 29 } });
      const services = { cidr: "10.8.0.0/28", blockSize: 30, allowedUses: ["LoadBalancer"] };
      await resources.create("IPPool", { metadata: { name: "services" }, spec: services });
    });
    after(() => datastore?.[Symbol.asyncDispose]());
    const ipamOf = () => openIpam(openIpamAccess(datastore, edge), edge);

    test("six workers on three nodes never get the same address, and leave nothing", async () => {
      const live = new Set<string>();
      const work = async (worker: number) => {
        const ipam = ipamOf();
        for (let turn = 0; turn < 6; turn += 1) {
          const handle = `w${worker}-${turn}`;
          const node = `n${1 + ((worker + turn) % 3)}`;
          const { ipv4 } = await ipam.autoAssign({
            node,
            use: "Workload",
            handle,
            attributes: { node },
            ipv4: { count: 2 },
          });
          const texts = ipv4.addresses.map(({ address }) => addressText(address.family, address.first));
          equal(texts.length, 2);
          for (const text of texts) {
            ok(!live.has(text), `${text} was given twice`);
            live.add(text);
          }
          if (turn % 2 === 0) continue;
          for (const text of texts) live.delete(text); // it is ours until the release is done
          await ipam.releaseByHandle(handle);
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, worker) => work(worker)));
      const ipam = ipamOf();
      const inUse = (await ipam.getUtilization(["pods"])).pools.map((pool) => pool.inUse);
      deepEqual(inUse, [BigInt(live.size)]);
      for (let worker = 0; worker < 6; worker += 1) {
        for (const turn of [0, 2, 4]) await ipam.releaseByHandle(`w${worker}-${turn}`);
      }
      deepEqual(
        (await ipam.getUtilization(["pods"])).pools.map((pool) => pool.inUse),
        [0n],
      );
      for (const node of ["n1", "n2", "n3"])
        deepEqual((await ipam.releaseHostAffinities(node, { mustBeEmpty: true })).refused, []);
      deepEqual(
        (await ipam.getUtilization(["pods"])).pools.flatMap(({ blocks }) => blocks),
        [],
      );
    });

    test("services have a block of their own, which goes with its last address", async () => {
      const ipam = ipamOf();
      await ipam.autoAssign({
        node: "",
        use: "LoadBalancer",
        handle: "lb-1",
        attributes: { service: "a" },
        ipv4: { count: 1 },
      });
      const [held] = (await ipam.ipsByHandle("lb-1")) ?? [];
      const text = addressText(4, held?.address.first ?? 0n);
      const seen = await ipam.getAssignmentAttributes(text);
      equal(seen.is === "assigned" && seen.block.owner, "virtual:load-balancer");
      await ipam.releaseByHandle("lb-1");
      equal((await ipam.getAssignmentAttributes(text)).is, "no-block");
      deepEqual((await ipam.releasePoolAffinities("10.8.0.0/28")).released, []);
    });

    test("releasing a pool's claims finds services' blocks, too", async () => {
      const ipam = ipamOf();
      await ipam.autoAssign({ node: "", use: "LoadBalancer", handle: "lb-2", ipv4: { count: 1 } });
      equal((await ipam.releasePoolAffinities("10.8.0.0/28")).released.length, 1);
      await ipam.releaseByHandle("lb-2");
    });

    test("a removed node leaves no claim, and in etcd no mark of an old release", async () => {
      const mark = "/calico/ipam/v2/host/n3";
      await etcdPut(name, mark);
      const ipam = ipamOf();
      await ipam.ensureBlock("n3");
      equal((await ipam.removeHost("n3")).released.length, 1);
      deepEqual(await etcdKeys(name, mark), []);
      deepEqual((await ipam.removeHost("n3")).released, []);
    });

    test("a configuration is written and read; without one the defaults hold", async () => {
      const ipam = ipamOf();
      const config = { ...(await ipam.getConfig()), strictAffinity: true, cooldownSeconds: 7 };
      await ipam.setConfig(config);
      deepEqual(await ipam.getConfig(), config);
    });
  });
}

test("the program on a folder: processes at the same time get different addresses", async () => {
  const path = join(folder, "cluster");
  mkdirSync(path);
  const documents = [
    { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    {
      apiVersion: "projectcalico.org/v3",
      kind: "IPPool",
      metadata: { name: "p" },
      spec: { cidr: "10.9.0.0/24", blockSize: 28 },
    },
  ];
  writeFileSync(join(path, "cluster.yaml"), documents.map((each) => JSON.stringify(each)).join("\n---\n"));
  const call = async (command: string, container: string) => {
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: container,
      CNI_NETNS: "/ns",
      CNI_IFNAME: "eth0",
      CNI_PATH: "/bin",
    };
    const configuration = { cniVersion: "1.0.0", name: "net", datastore_type: "directory", datastore_directory: path };
    const files = { nodename: "n1", ipam_lock_file: join(folder, "ipam.lock") };
    await using program = new Cattail(["cni", "ipam"], { env, stdin: JSON.stringify({ ...configuration, ...files }) });
    equal(await program.ended, 0, program.output);
    return program.stdout;
  };
  const containers = ["c1", "c2", "c3"];
  const answers = await Promise.all(containers.map((container) => call("ADD", container)));
  const addresses = answers.map((answer) => (JSON.parse(answer) as { ips: { address: string }[] }).ips[0]?.address);
  equal(new Set(addresses).size, 3);
  equal(await call("ADD", "c1"), answers[0]);
  for (const container of containers) equal(await call("DEL", container), "");
});

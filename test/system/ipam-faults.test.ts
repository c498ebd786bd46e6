// Faults that the original's calico-ipam has and ours has not, on a real API server behind a proxy that fails on purpose. Those that a
// recorded case shows are in ipam-golden.test.ts; here are the rest, and how many requests a call makes.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { isRecord, type JsonRecord, systemClock } from "../../src/base/lib/index.ts";
import { crdManifest } from "../../src/calico/kinds/index.ts";
import { createIpamPlugin, freshBacking, runPlugin } from "../../src/node/cni/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { applyAll } from "../kit/ipam-cases/case-store.ts";
import { KubeStore } from "../kit/ipam-cases/kube-store.ts";
import { type Meddler, startMeddler } from "../kit/ipam-cases/meddler.ts";

const peer = await clusterPeer();
const kinds = [
  "IPPool",
  "IPReservation",
  "ClusterInformation",
  "BlockAffinity",
  "IPAMBlock",
  "IPAMHandle",
  "IPAMConfig",
] as const;

describe("faults of calico-ipam that ours has not", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let store: KubeStore;
  let meddler: Meddler;
  const folder = mkdtempSync(join(tmpdir(), "cattail-ipam-faults-"));
  const kubeconfig = join(folder, "kubeconfig");

  before(async () => {
    cluster = await startCluster();
    const manifests = kinds.map((kind) => crdManifest(kind));
    await installCrds(cluster, manifests);
    store = new KubeStore(cluster);
    const subject = { kind: "ServiceAccount", name: "cni", namespace: "default" } as const;
    const token = await cluster.makeToken("cni");
    await cluster.grant("cni", subject, [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]);
    meddler = await startMeddler(cluster, store, token);
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const clusters = [{ name: "c", cluster: { server: meddler.server } }];
    const users = [{ name: "u", user: {} }];
    writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts: [context], "current-context": "c" }));
  });
  after(async () => {
    await meddler?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    meddler.arm([]);
    await store.clear();
    await applyAll(store, [
      { kind: "Node", metadata: { name: "n1" } },
      { kind: "IPPool", metadata: { name: "pool" }, spec: { cidr: "10.9.0.0/28", blockSize: 30 } },
    ]);
  });

  async function call(command: string, container: string, change: JsonRecord = {}, ifname = "eth0", args = "") {
    const variables = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: container,
      CNI_NETNS: "/var/run/netns/none",
      CNI_IFNAME: ifname,
      CNI_PATH: "/opt/cni/bin",
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p${args}`,
    };
    const configuration = {
      cniVersion: "1.0.0",
      name: "net",
      datastore_type: "kubernetes",
      kubernetes: { kubeconfig },
      nodename: "n1",
      ipam_lock_file: join(folder, "ipam.lock"),
      ...change,
    };
    const warn = (text: string) => ok(false, text);
    const edge = { clock: systemClock, random: Math.random, warn };
    const backing = freshBacking(edge);
    const plugin = createIpamPlugin({ variables, ...edge, version: "v0", backing, isOwnFile: () => false });
    const { exitCode, stdout } = await runPlugin(plugin, variables, async () => JSON.stringify(configuration));
    return { exitCode, said: stdout === "" ? {} : (JSON.parse(stdout) as JsonRecord) };
  }

  const stored = async () => Object.keys(await store.dump(Date.now()));
  const addressIn = (said: JsonRecord) => (said.ips as { address: string }[] | undefined)?.[0]?.address;

  test("an API server that fails every block write is asked three times, its error is the answer, and no second block is claimed", async () => {
    equal((await call("ADD", "c0")).exitCode, 0);
    meddler.arm([{ method: "PUT", path: "/ipamblocks/", again: 1000, answer: 500 }]);
    const { exitCode, said } = await call("ADD", "c1");
    deepEqual([exitCode, said.code], [1, 999]);
    match(String(said.msg), /refused on purpose \(500\)/);
    equal(meddler.seen.filter((line) => line.startsWith("PUT ipamblocks/")).length, 3);
    ok(meddler.seen.length < 20, meddler.seen.join("\n"));
    equal((await stored()).filter((name) => name.startsWith("IPAMBlock/")).length, 1);
    // Nobody knows whether a write happened that got no answer, so the handle stays until DEL.
    meddler.arm([]);
    equal((await call("DEL", "c1")).exitCode, 0);
    deepEqual(
      (await stored()).filter((name) => name.startsWith("IPAMHandle/")),
      ["IPAMHandle/net.c0"],
    );
  });

  test("a refusal that is certain lowers the handle again", async () => {
    equal((await call("ADD", "c0")).exitCode, 0);
    meddler.arm([{ method: "PUT", path: "/ipamblocks/", again: 1000, answer: 403 }]);
    equal((await call("ADD", "c1")).exitCode, 1);
    deepEqual(
      (await stored()).filter((name) => name.startsWith("IPAMHandle/")),
      ["IPAMHandle/net.c0"],
    );
  });

  test("a handle whose block is gone goes with its DEL", async () => {
    const spec = { handleID: "net.c1", block: { "10.9.0.0/30": 1 }, deleted: false };
    await store.apply({ kind: "IPAMHandle", metadata: { name: "net.c1" }, spec });
    equal((await call("DEL", "c1")).exitCode, 0);
    deepEqual(await stored(), []);
  });

  test("a handle that counts in a block which holds nothing for it goes with its DEL, and the block is written", async () => {
    const { said } = await call("ADD", "c0");
    const block = `${addressIn(said)?.replace(/\d+\/30$/, "")}`;
    const before = await store.dump(Date.now());
    const [cidr = ""] = Object.values(before).flatMap((object) =>
      isRecord(object) && isRecord(object.spec) && "allocations" in object.spec ? [String(object.spec.cidr)] : [],
    );
    ok(cidr.startsWith(block));
    const spec = { handleID: "net.c1", block: { [cidr]: 1 }, deleted: false };
    await store.apply({ kind: "IPAMHandle", metadata: { name: "net.c1" }, spec });
    equal((await call("DEL", "c1")).exitCode, 0);
    deepEqual(
      (await stored()).filter((name) => name.startsWith("IPAMHandle/")),
      ["IPAMHandle/net.c0"],
    );
    equal(meddler.seen.filter((line) => line.startsWith("PUT ipamblocks/")).length > 0, true);
  });

  test("ADD twice: the same address, also from a full block of an exhausted pool; another interface gets its own", async () => {
    await store.clear();
    await applyAll(store, [
      { kind: "Node", metadata: { name: "n1" } },
      { kind: "IPPool", metadata: { name: "pool" }, spec: { cidr: "10.9.0.0/30", blockSize: 30 } },
    ]);
    const first = addressIn((await call("ADD", "c1")).said);
    const other = addressIn((await call("ADD", "c1", {}, "net1")).said);
    ok(first !== undefined && other !== undefined && first !== other);
    for (const container of ["c2", "c3"]) equal((await call("ADD", container)).exitCode, 0);
    equal((await call("ADD", "c4")).exitCode, 1);
    equal(addressIn((await call("ADD", "c1")).said), first);
    equal(addressIn((await call("ADD", "c1", {}, "net1")).said), other);
    equal((await call("DEL", "c1")).exitCode, 0);
    equal((await stored()).includes("IPAMHandle/net.c1"), false);
  });

  test("CHECK fails for an address that is not held for the container, and only then", async () => {
    const { said } = await call("ADD", "c1");
    const prevResult = { cniVersion: "1.0.0", ips: [{ address: addressIn(said)?.replace("/30", "/32") }] };
    deepEqual(await call("CHECK", "c1", { prevResult }), { exitCode: 0, said: {} });
    await call("DEL", "c1");
    const { exitCode, said: refusal } = await call("CHECK", "c1", { prevResult });
    equal(exitCode, 1);
    match(String(refusal.msg), /is not held by net\.c1/);
  });

  test("an affinity of an old release gets its labels before the first named address after a boot", async () => {
    const spec = { cidr: "10.9.0.8/30", deleted: "false", node: "n1", state: "confirmed", type: "host" };
    await store.apply({ kind: "BlockAffinity", metadata: { name: "n1-10-9-0-8-30" }, spec });
    const boot = { ipam_lock_file: join(folder, "boot", "ipam.lock") };
    const { said } = await call("ADD", "c1", boot, "eth0", ";IP=10.9.0.1");
    equal(addressIn(said), "10.9.0.1/32");
    const { "BlockAffinity/n1-10-9-0-8-30": affinity } = (await store.dump(Date.now())) as {
      [name: string]: JsonRecord;
    };
    equal((affinity?.metadata as { labels?: JsonRecord } | undefined)?.labels?.["projectcalico.org/ip-version"], "4");
    meddler.arm([]);
    equal((await call("ADD", "c2", boot, "eth0", ";IP=10.9.0.2")).exitCode, 0);
    equal(meddler.seen.filter((line) => line.includes("blockaffinities")).length, 0);
  });

  test("requests: at most 8 for an ADD in a block that the node has, and 7 for its DEL", async () => {
    equal((await call("ADD", "c0")).exitCode, 0);
    meddler.arm([]);
    equal((await call("ADD", "c1")).exitCode, 0);
    ok(meddler.seen.length <= 8, meddler.seen.join("\n"));
    meddler.arm([]);
    equal((await call("DEL", "c1")).exitCode, 0);
    ok(meddler.seen.length <= 7, meddler.seen.join("\n"));
  });
});

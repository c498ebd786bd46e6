// The lab's machines by themselves: nodes with networks, files and names of their own, pods by the CNI plugin, pings between all of them; and
// nothing is left when they go.
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { writeSysctl } from "../../src/base/linux/kernel.ts";
import { openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { buildWorld, isWhole, Pods, pairsOf, pingPairs } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { noNamespaces } from "../kit/namespace.ts";

const skip = noNamespaces;

test("nodes reach each other, have files and a name of their own, and are gone afterwards", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-world-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const world = await buildWorld({ folder, nodes: 2, networkOf: (node) => node - 1 });
  const [one, two] = [world.node("cka001"), world.node("cka002")];
  equal((await one.run("uname", ["-n"])).stdout.trim(), "cka001");
  await one.run("tee", ["/var/lib/calico/nodename"], { stdin: "cka001" });
  equal(readFileSync(one.path("/var/lib/calico/nodename"), "utf8"), "cka001");
  equal(existsSync(two.path("/var/lib/calico/nodename")), false);
  const ends = world.ends().map((end) => ({ ...end, pool: "" }));
  deepEqual(
    (await pingPairs(pairsOf([], ends))).map((pair) => [pair.from.name, pair.to.address, isWhole(pair)]),
    [
      ["cka001", "172.31.1.12", true],
      ["cka002", "172.31.0.11", true],
    ],
  );
  const pids = [world.switch.pid, one.place.pid, two.place.pid];
  await world[Symbol.asyncDispose]();
  for (const pid of pids) ok(!existsSync(`/proc/${pid}/ns/net`));
});

test("pods of a node reach each other; one that is refused leaves nothing", { skip, timeout: 240_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-world-"));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  const world = afterTest(t).use(await buildWorld({ folder: join(folder, "world"), nodes: 1 }));
  const [bin, objects] = [join(folder, "bin"), join(folder, "objects")];
  for (const each of [bin, objects]) mkdirSync(each);
  for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cattail"), join(bin, name));
  const manifests = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "cka001" } },
    {
      apiVersion: "projectcalico.org/v3",
      kind: "ClusterInformation",
      metadata: { name: "default" },
      spec: { datastoreReady: true },
    },
    { apiVersion: "projectcalico.org/v3", kind: "IPPool", metadata: { name: "pool" }, spec: { cidr: "10.244.0.0/18" } },
  ];
  for (const [i, each] of manifests.entries()) writeFileSync(join(objects, `${i}.json`), JSON.stringify(each));
  const datastore = afterTest(t).use(await openDirectoryDatastore({ path: objects }));
  const pods = afterTest(t).use(
    new Pods({
      world,
      datastore,
      plugin: { before: [process.execPath], folder: bin },
      configuration: ({ name: nodename }) => ({
        cniVersion: "0.3.1",
        name: "k8s-pod-network",
        type: "calico",
        datastore_type: "directory",
        datastore_directory: objects,
        nodename,
        nodename_file_optional: true,
        ipam: { type: "calico-ipam" },
        policy: { type: "k8s" },
      }),
    }),
  );
  const node = world.node("cka001");
  writeSysctl("net.ipv4.ip_forward", 1, { namespace: node.netns });
  for (const name of ["a", "b"]) await pods.add({ name, node: "cka001" });
  const pinged = await pingPairs(
    pairsOf(
      world.ends(),
      pods.ends(() => "pool"),
    ),
  );
  deepEqual(
    pinged.filter((pair) => !isWhole(pair)).map(({ from, to }) => `${from.name} -> ${to.name}`),
    [],
  );
  deepEqual([...new Set(pinged.map(({ kind }) => kind))], ["same node", "node to pod", "pod to node"]);
  const annotations = { "cni.projectcalico.org/ipv4pools": '["no-such-pool"]' };
  await rejects(pods.add({ name: "c", node: "cka001", annotations }), { code: "LAB_CNI", message: /no-such-pool/ });
  equal(await datastore.get("Pod", { namespace: "default", name: "c" }), undefined);
  await pods.remove("a");
  deepEqual(
    pods.all.map(({ name }) => name),
    ["b"],
  );
});

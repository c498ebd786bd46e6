// A lab that keeps everything in a datastore it was given, a real etcd and a real kube-apiserver: it answers, what is broken is named, and `lab down`
// leaves nothing of it there, and everything of others.
import { deepEqual, equal, match } from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { defaultInstallOptions, manifests } from "../../src/programs/manifests/index.ts";
import { cattail } from "../kit/cattail-process.ts";
import { clusterPeer, longLived, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { LabUnderTest, noLab } from "../kit/lab-under-test.ts";

const skip = noLab || ((await clusterPeer()).missing ?? false);
const small = ["--nodes", "2", "--dashboard-port", "0"];
const otherPool = { apiVersion: "projectcalico.org/v3", kind: "IPPool", metadata: { name: "of-others" } };

for (const { name, breaks } of [
  { name: "etcd", breaks: { name: "policy", code: "POLICY_DENIES" } },
  { name: "an API server", breaks: { name: "rights", code: "NODE_RIGHTS_MISSING" } },
])
  test(`a lab on ${name}: pings, a breakage, the doctor, and nothing is left`, {
    skip,
    timeout: 600_000,
  }, async (t) => {
    await using cluster = await startCluster();
    const url = cluster.etcd.members[0]?.url ?? "";
    const kubeconfig = await longLived(cluster);
    const [flags, env] =
      name === "etcd"
        ? [["--etcd", url], { DATASTORE_TYPE: "etcdv3", ETCD_ENDPOINTS: url }]
        : [["--kubeconfig", kubeconfig], { DATASTORE_TYPE: "kubernetes", KUBECONFIG: kubeconfig }];
    const lab = await LabUnderTest.of(t);
    const bare = await lab.run("up", ...small, ...(name === "etcd" ? ["--etcd", "http://127.0.0.1:1"] : flags));
    equal(bare.code, 1, "said before anything is built");
    match(
      bare.stderr,
      name === "etcd" ? /cannot be read: .*ECONNREFUSED/ : /no CRDs[\s\S]*manifests crds \| kubectl apply/,
    );
    equal(existsSync(lab.folder), false);
    if (name !== "etcd")
      await installCrds(cluster, manifests("crds", { ...defaultInstallOptions, serviceMonitor: false }));
    const ctl = async (...words: string[]) => {
      const { code, stdout, stderr } = await cattail(["ctl", ...words], {
        env,
        stdin: JSON.stringify({ ...otherPool, spec: { cidr: "10.99.0.0/24" } }),
      });
      equal(code, 0, stderr);
      return stdout;
    };
    await ctl("create", "-f", "-");
    match(await lab.good("up", ...small, ...flags), /All pings are answered: same node 2\/2, across nodes 4\/4/);
    await lab.isHealthy(`a healthy lab on ${name}`);
    match(await lab.good("doctor", "pingtest-1", "pingtest-4"), /Nothing that was looked at breaks this path/);
    await lab.isNamed(breaks);
    await lab.good("down");
    const names = async (kind: string) =>
      (await ctl("get", kind, "-o", "name")).split("\n").filter((line) => line.trim() !== "");
    deepEqual(await names("nodes"), []);
    match((await names("ippools")).join(), /^[^,]*of-others$/);
    if (name === "etcd") {
      const left = await cluster.etcd.members[0]?.ask({ do: "list", key: "/calico/ipam/v2/" });
      deepEqual(
        (left?.pairs ?? []).map(({ key }) => key).filter((key) => !key.endsWith("/config")),
        [],
      );
    } else match(await ctl("ipam", "check"), /found 0 problems/);
    equal((await cattail(["lab", "status", "--folder", lab.folder])).code, 1);
  });

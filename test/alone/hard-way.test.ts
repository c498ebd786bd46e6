// The Deployment of the hard-way guides, unchanged: its environment, its ports, its probes, its ClusterRole, on a cluster
// with only the custom resource definitions of that time. As a process of its own, the way a kubelet would start it.
import { equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { accountConfig } from "../kit/account-config.ts";
import { Cattail, probe } from "../kit/cattail-process.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { hardWayKinds, installCrds, openCrd } from "../kit/crds.ts";
import { portInUse } from "../kit/free-port.ts";
import { goPeer } from "../kit/go.ts";

const { missing } = await clusterPeer();
const client = await goPeer("test/peers/typha/client");
const reason = missing ?? client.missing ?? (await portInUse([5473, 9098]));

const rule = (group: string, resources: string, verbs: string) => ({
  apiGroups: [group],
  resources: resources.split(" "),
  verbs: verbs.split(" "),
});
const hardWayRules = [
  rule("", "pods namespaces serviceaccounts endpoints services nodes", "watch list"),
  rule("networking.k8s.io", "networkpolicies", "watch list"),
  rule(
    "crd.projectcalico.org",
    "globalfelixconfigs felixconfigurations bgppeers globalbgpconfigs bgpconfigurations ippools ipamblocks globalnetworkpolicies globalnetworksets networkpolicies clusterinformations hostendpoints blockaffinities networksets",
    "get list watch",
  ),
  rule("crd.projectcalico.org", "clusterinformations", "get create update"),
];

test("the hard-way Deployment works unchanged", {
  ...(reason === undefined ? {} : { skip: reason }),
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  using certificates = certificateFolder();
  await installCrds(
    cluster,
    hardWayKinds.map((kind) => openCrd(kind)),
  );
  await using typha = await startLikeKubelet(cluster, certificates.folder);

  const readiness = await typha.until("ready", async () => {
    const answer = await probe("http://localhost:9098/readiness");
    return answer?.status === 200 ? answer.body : undefined;
  });
  match(readiness, /^\+-+\+[\s\S]*\| felix-cache +\| 20s +\| reporting live \| reporting ready \|/);
  equal((await probe("http://localhost:9098/liveness"))?.status, 200);
  match(typha.output, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[INFO\]\[\d+\] typha\/\S+ \d+: /m);

  const { caFile, certFile, keyFile } = certificates.client;
  const files = ["--ca", caFile, "--cert", certFile, "--key", keyFile];
  const follow = ["--server", "127.0.0.1:5473", "--server-cn", "calico-typha", "--until-in-sync"];
  for (const type of ["felix", "bgp", "tunnel-ip-allocation", "node-status"]) {
    const { code, output } = await runClient([...follow, ...files, "--type", type]);
    equal(code, 0, output);
    if (type === "felix") match(output, /"key":"\/calico\/v1\/policy\/profile\/kns\.kube-system\/rules"/);
  }
  ok((await runClient(["--server", "127.0.0.1:5473", "--plaintext", "--until-in-sync", "--timeout", "5s"])).code !== 0);

  typha.process.kill("SIGTERM");
  equal(await typha.ended, 0);
});

async function startLikeKubelet(cluster: Cluster, folder: string): Promise<Cattail> {
  const account = { kind: "ServiceAccount", name: "calico-typha", namespace: "kube-system" } as const;
  await cluster.grant("calico-typha", account, hardWayRules);
  const env = {
    KUBECONFIG: await accountConfig(cluster, account),
    TYPHA_LOGFILEPATH: "none",
    TYPHA_LOGSEVERITYSYS: "none",
    TYPHA_CONNECTIONREBALANCINGMODE: "kubernetes",
    TYPHA_DATASTORETYPE: "kubernetes",
    TYPHA_HEALTHENABLED: "true",
    TYPHA_CAFILE: join(folder, "typhaca.crt"),
    TYPHA_CLIENTCN: "calico-node",
    TYPHA_SERVERCERTFILE: join(folder, "typha.crt"),
    TYPHA_SERVERKEYFILE: join(folder, "typha.key"),
  };
  return new Cattail(["typha"], { env });
}

function runClient(flags: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const started = spawn(client.path ?? "", flags, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    started.on("close", (code) => done({ code, output }));
  });
}

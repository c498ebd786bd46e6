// npm run peers: a real kube-apiserver with Calico's CRDs, and etcd, on loopback, until interrupted, or until npm has ended. Prints where they are.
import { defaultInstallOptions, manifests } from "../src/programs/manifests/index.ts";
import { clusterPeer, startCluster } from "../test/kit/cluster.ts";
import { installCrds } from "../test/kit/crds.ts";
import { starterGone } from "./ends-with-starter.ts";

const ended = Promise.race([
  new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve).once("SIGHUP", resolve)),
  starterGone(),
]);

const peer = await clusterPeer();
if (peer.path === undefined) {
  console.error(`cannot build the servers: ${peer.missing}`);
  process.exit(1);
}
await using cluster = await startCluster();
await installCrds(cluster, manifests("crds", { ...defaultInstallOptions, serviceMonitor: false }));
console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
console.log(
  `# kube-apiserver ${cluster.server}, etcd ${cluster.etcd.members.map(({ url }) => url).join(",")}; Ctrl-C ends both`,
);
// A promise alone does not keep the process: its children's pipes do.
await ended;

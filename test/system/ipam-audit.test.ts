// The audit and the mender on a real API server, with pods, nodes and a tunnel: what leaked is freed, what is used stays, and pods that
// come back or have not said their addresses are left alone.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { addressText, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openDatastore } from "../../src/calico/datastore/index.ts";
import { audit, type Finding } from "../../src/calico/ipam/index.ts";
import { openAuditor } from "../../src/calico/ipam-audit/index.ts";
import { openIpam, openIpamAccess } from "../../src/calico/ipam-client/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds, openCrd } from "../kit/crds.ts";

const { missing } = await clusterPeer();
const kinds = ["IPAMBlock", "BlockAffinity", "IPAMHandle", "IPAMConfig", "IPPool", "IPReservation"] as const;
const edge = { clock: systemClock, random: Math.random };

async function makeNode(cluster: Cluster, name: string, annotations: { readonly [name: string]: string } = {}) {
  await cluster.must("POST", "/api/v1/nodes", { kind: "Node", apiVersion: "v1", metadata: { name, annotations } });
}

/** Without an address: it has not said it yet. */
async function makePod(cluster: Cluster, { pod, node, address }: { pod: string; node: string; address?: string }) {
  const path = "/api/v1/namespaces/default/pods";
  const spec = { nodeName: node, containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };
  await cluster.must("POST", path, { kind: "Pod", apiVersion: "v1", metadata: { name: pod }, spec });
  if (address === undefined) return;
  const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }] };
  const made = (await cluster.must("GET", `${path}/${pod}`)) as object;
  await cluster.must("PUT", `${path}/${pod}/status`, { ...made, status });
}

test("leaks of pods, a tunnel and a node that is gone are mended on an API server, and what is used stays", {
  skip: missing ?? false,
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  await installCrds(
    cluster,
    kinds.map((kind) => openCrd(kind)),
  );
  const options = { type: "kubernetes", kubeconfig: cluster.kubeconfig, streamLists: false } as const;
  await using datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
  const resources = openResources(datastore, edge);
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  await resources.apply("IPPool", {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name: "p" },
    spec: { cidr: "10.65.0.0/16", blockSize: 29 },
  });
  for (const node of ["n1", "gone"]) await makeNode(cluster, node);

  const assign = async (node: string, handle: string, attributes: { readonly [name: string]: string }) => {
    const { ipv4 } = await ipam.autoAssign({
      node,
      use: "Workload",
      handle,
      attributes: { node, ...attributes },
      ipv4: { count: 1 },
    });
    const [first] = ipv4.addresses;
    ok(first !== undefined);
    return addressText(first.address.family, first.address.first);
  };
  const forPod = (node: string, pod: string) => assign(node, `k8s.${pod}`, { namespace: "default", pod });
  const used = await forPod("n1", "used");
  await makePod(cluster, { pod: "used", node: "n1", address: used });
  await forPod("n1", "starting");
  await makePod(cluster, { pod: "starting", node: "n1" });
  const leaked = await forPod("n1", "leaked");
  const comesBack = await forPod("n1", "comes-back");
  const tunnel = await assign("n1", "ipip-tunnel-addr-n1", { type: "ipipTunnelAddress" });
  const ofGone = await forPod("gone", "of-gone");
  await cluster.must("DELETE", "/api/v1/nodes/gone");

  const { signal } = new AbortController();
  const auditor = openAuditor({ datastore, resources, services: datastore, ...edge, signal });
  const seen = await auditor.read();
  const { findings } = audit(seen);
  const said = (address: string) => findings.find(({ says }) => says.startsWith(`${address} `))?.code;
  deepEqual([used, leaked, comesBack, tunnel, ofGone].map(said), [
    undefined,
    "ADDRESS_LEAKED",
    "ADDRESS_LEAKED",
    "ADDRESS_LEAKED",
    "ADDRESS_LEAKED",
  ]);
  deepEqual(codesOf(findings), ["ADDRESS_LEAKED", "NODE_GONE"]);

  // Between the audit and the mending a pod is there again, with the address that it had.
  await makePod(cluster, { pod: "comes-back", node: "n1", address: comesBack });
  const results = await auditor.mend(findings, seen);
  const left = results.filter(({ outcome }) => outcome.is !== "mended");
  deepEqual(
    left.map(({ finding, outcome }) => `${outcome.is} ${finding.says.split(" ")[0]}`),
    [`changed ${comesBack}`],
  );
  deepEqual(audit(await auditor.read()).findings, []);
  const held = await Promise.all(
    ["used", "starting", "comes-back", "leaked", "of-gone"].map((pod) => ipam.ipsByHandle(`k8s.${pod}`)),
  );
  deepEqual(
    held.map((addresses) => addresses?.length ?? 0),
    [1, 1, 1, 0, 0],
  );
  equal(await ipam.ipsByHandle("ipip-tunnel-addr-n1"), undefined);
});

function codesOf(findings: readonly Finding[]): string[] {
  return [...new Set(findings.map(({ code }) => code))].sort();
}

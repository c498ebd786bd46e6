// The agent of a node finds its Typha by the Service, on a real API server, as the hard way's manifest has it: FELIX_TYPHAK8SSERVICENAME, mutual
// TLS, an account that may list EndpointSlices of one namespace. One Typha goes, another one comes, at another address.
import { equal, match } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { afterTest } from "../kit/after-test.ts";
import { Cattail } from "../kit/cattail-process.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { eventually } from "../kit/eventually.ts";
import { startListeningAgent } from "../kit/listening-agent.ts";
import { tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

/** The API server refuses slices with loopback addresses. */
const [own] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."));
const skip = (await clusterPeer()).missing ?? (own === undefined && "this machine has no address but loopback");
const namespace = "calico-system";
const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
const keyOf = (name: string) => `/calico/v1/netset/${name}`;

test("an agent finds Typha by its Service, says why while there is none, and follows it to another address", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const cluster = afterTest(t).use(await startCluster());
  await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const kubeconfig = await cluster.makeUser("calico-node");
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rules = [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] }];
  await cluster.must("POST", `${rbac}/roles`, { metadata: { name: "typha" }, rules });
  await cluster.must("POST", `${rbac}/rolebindings`, {
    metadata: { name: "typha" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "typha" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "calico-node" }],
  });
  using certificates = certificateFolder();
  const startTypha = async (set: string) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-discovery-"));
    afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
    const object = { apiVersion: "projectcalico.org/v3", kind: "GlobalNetworkSet", metadata: { name: set } };
    writeFileSync(join(folder, "set.json"), JSON.stringify({ ...object, spec: { nets: ["10.0.0.0/8"] } }));
    const env = await typhaSettings({
      ...tlsSettings(certificates),
      ...{ TYPHA_DATASTORETYPE: "directory", TYPHA_DATASTOREDIRECTORY: folder, TYPHA_SERVERHOST: own?.address ?? "" },
    });
    const typha = afterTest(t).use(new Cattail(["typha"], { env }));
    await typha.says(/listening/);
    await cluster.must("POST", slices, {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { name: set, labels: { "kubernetes.io/service-name": "calico-typha" } },
      ports: [{ name: "calico-typha", port: Number(env.TYPHA_SERVERPORT), protocol: "TCP" }],
      endpoints: [{ addresses: [own?.address], conditions: { ready: true } }],
    });
    return typha;
  };
  const { client } = certificates;
  const agent = await startListeningAgent(t, {
    ...{ KUBECONFIG: kubeconfig, FELIX_TYPHAK8SSERVICENAME: "calico-typha", FELIX_TYPHAK8SNAMESPACE: namespace },
    ...{ FELIX_TYPHACAFILE: client.caFile, FELIX_TYPHACERTFILE: client.certFile, FELIX_TYPHAKEYFILE: client.keyFile },
    FELIX_TYPHACN: "calico-typha",
  });
  let last = "";
  await eventually(
    async () => {
      last = (await agent.readiness()).text;
      return /the service calico-typha in calico-system has no ready server/.test(last);
    },
    () => `says that there is none; it says ${last}`,
  );
  const first = await startTypha("first");
  await agent.ready("with the first");
  equal(agent.part.keys.has(keyOf("first")), true);
  await cluster.must("DELETE", `${slices}/first`);
  first.process.kill("SIGKILL");
  await first.ended;
  await eventually(async () => !(await agent.readiness()).isReady, "not ready without it");
  match((await agent.readiness()).text, /CalculationGraph/);
  await startTypha("second");
  await agent.ready("with the second");
  await eventually(() => agent.part.keys.has(keyOf("second")) && !agent.part.keys.has(keyOf("first")), "its state");
  equal(agent.part.starts, 1);
});

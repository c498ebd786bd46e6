// Discovery against a real API server, by a user who may list EndpointSlices in one namespace and nothing else: the
// servers come and go, and the client follows whichever is there.
import { equal, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Discovery, kubernetesService } from "../../src/typha/client/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { Followed } from "../kit/followed.ts";
import { serve, type TestServer } from "../kit/serving.ts";

const skip = (await clusterPeer()).missing ?? false;
const slices = "/apis/discovery.k8s.io/v1/namespaces/calico-system/endpointslices";

let cluster: Cluster;
before(async () => {
  if (skip) return;
  cluster = await startCluster();
  await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "calico-system" } });
});
after(() => (skip ? undefined : cluster[Symbol.asyncDispose]()));

function slice(name: string, service: string, server: TestServer) {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    ports: [{ name: "calico-typha", port: server.address.port, protocol: "TCP" }],
    endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true }, nodeName: name }],
  };
}

async function makeReader(): Promise<string> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/calico-system";
  const kubeconfig = await cluster.makeUser("reader");
  const rules = [{ apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] }];
  await cluster.must("POST", `${rbac}/roles`, { metadata: { name: "reader" }, rules });
  await cluster.must("POST", `${rbac}/rolebindings`, {
    metadata: { name: "reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }],
  });
  return kubeconfig;
}

test("the client finds the servers of the service, and the next when one goes", {
  skip,
  timeout: 300_000,
}, async () => {
  await using first = await serve();
  await using second = await serve();
  await using stranger = await serve();
  for (const [index, server] of [first, second, stranger].entries()) {
    server.set({ "/calico/v1/config/who": `server ${index + 1}` });
    server.status(2);
  }
  const kubernetes = { kubeconfig: await makeReader() };
  const servers = kubernetesService({ namespace: "calico-system", service: "typha", localNode: "first", kubernetes });
  const signal = AbortSignal.timeout(60_000);
  await rejects(
    async () => {
      // The right may take a moment to be known; then the answer is that there is no server.
      for (;;) {
        try {
          return await servers(signal);
        } catch (error) {
          if ((error as { code?: string }).code !== "forbidden") throw error;
        }
      }
    },
    { code: "CLIENT_SERVICE_NOT_READY" },
  );
  await cluster.must("POST", slices, slice("stranger", "another-service", stranger));
  await cluster.must("POST", slices, slice("first", "typha", first));
  // The API server refuses slices with loopback addresses, and our servers have no others.
  const onLoopback: Discovery = async (asking) => (await servers(asking)).map((at) => ({ ...at, host: "127.0.0.1" }));
  await using client = new Followed({ servers: onLoopback });
  await client.inSync();
  equal(client.state.get("/calico/v1/config/who"), "server 1");
  await cluster.must("DELETE", `${slices}/first`);
  await cluster.must("POST", slices, slice("second", "typha", second));
  await first[Symbol.asyncDispose]();
  await client.until(() => client.state.get("/calico/v1/config/who") === "server 2", "the second server");
});

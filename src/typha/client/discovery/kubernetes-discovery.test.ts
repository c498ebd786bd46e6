import { deepEqual, match, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeApi } from "../../../../test/kit/fake-api.ts";
import { startHttpProxy } from "../../../../test/kit/way-through.ts";
import { kubernetesService } from "./kubernetes-discovery.ts";

const slice = (host: string, nodeName: string) => ({
  ports: [{ name: "calico-typha", port: 5473 }],
  endpoints: [{ addresses: [host], nodeName }],
});
const list = (items: object[], more?: string) => ({ body: { metadata: more ? { continue: more } : {}, items } });

test("the service's slices are asked for by label in its namespace, page by page, and our own node's come first", async () => {
  await using api = await startFakeApi([list([slice("10.0.0.1", "a")], "token"), list([slice("10.0.0.2", "me")])]);
  const kubernetes = { apiEndpoint: api.url };
  const discover = kubernetesService({ namespace: "calico-system", service: "typha", localNode: "me", kubernetes });
  const found = await discover(new AbortController().signal);
  deepEqual(
    found.map(({ host, port }) => `${host}:${port}`),
    ["10.0.0.2:5473", "10.0.0.1:5473"],
  );
  match(api.asked[0] ?? "", /^GET \/apis\/discovery.k8s.io\/v1\/namespaces\/calico-system\/endpointslices\?/);
  match(api.asked[0] ?? "", /[?&]labelSelector=kubernetes.io%2Fservice-name%3Dtypha[& ]/);
});

test("a service without a ready server is an error that says where to look", async () => {
  await using api = await startFakeApi([list([])]);
  const discover = kubernetesService({ kubernetes: { apiEndpoint: api.url } });
  await rejects(discover(new AbortController().signal), { code: "CLIENT_SERVICE_NOT_READY" });
});

test("the environment's kubeconfig and proxy lead to the API server", async (context) => {
  await using api = await startFakeApi([list([slice("10.0.0.1", "a")])]);
  await using proxy = await startHttpProxy();
  const folder = mkdtempSync(join(tmpdir(), "cattail-discovery-"));
  const before = { ...process.env };
  context.after(() => {
    process.env = before;
    rmSync(folder, { recursive: true });
  });
  const server = api.url.replace("127.0.0.1", "api.test"); // which only the proxy knows
  const config = {
    clusters: [{ name: "c", cluster: { server } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: {} }],
    "current-context": "c",
  };
  writeFileSync(join(folder, "kubeconfig"), JSON.stringify(config));
  process.env = {
    ...before,
    KUBECONFIG: join(folder, "kubeconfig"),
    HTTP_PROXY: "",
    http_proxy: proxy.address,
    NO_PROXY: "",
    no_proxy: "",
  };
  const found = await kubernetesService()(new AbortController().signal);
  deepEqual(
    found.map(({ host }) => host),
    ["10.0.0.1"],
  );
  match(proxy.asked[0] ?? "", /^http:\/\/api\.test:\d+\/apis\/discovery/);
});

// ctl cluster diags: lists of a real API server; logs and restarts of one that plays pods; a node's state through a kubectl that plays one.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { crdManifest } from "../../src/calico/kinds/index.ts";
import { withinTest } from "../conformance/ctl/programs.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { startFakeApi } from "../kit/fake-api.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "cattail-cluster-diags-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const run = (cwd: string, env: { [name: string]: string }, ...flags: string[]) =>
  withinTest({ argv: ["cluster", "diags", ...flags], env, cwd, stdin: "", timeoutMs: 120_000 });

/** Files of the archive by their names without its root. */
function unpacked(cwd: string): { [name: string]: string } {
  const [archive = ""] = readdirSync(cwd).filter((name) => /^calico-diagnostics-\d{8}_\d{6}\.tar\.gz$/.test(name));
  const names = execFileSync("tar", ["-tzf", join(cwd, archive)], { encoding: "utf8" })
    .trim()
    .split("\n");
  const read = (name: string) => execFileSync("tar", ["-xzOf", join(cwd, archive), name], { encoding: "utf8" });
  return Object.fromEntries(names.map((name) => [name.slice(name.indexOf("/") + 1), read(name)]));
}

const peer = await clusterPeer();
test("the objects of a real cluster are collected, and no Secret", { skip: peer.missing ?? false }, async (t) => {
  const cwd = folder(t);
  await using cluster = await startCluster();
  await installCrds(cluster, [crdManifest("IPPool")]);
  const create = (path: string, body: object) => cluster.must("POST", path, body);
  const password = "hunter2hunter2";
  await create("/apis/crd.projectcalico.org/v1/ippools", {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "IPPool",
    metadata: { name: "p" },
    spec: { cidr: "10.1.0.0/16" },
  });
  await create("/api/v1/namespaces/default/secrets", { metadata: { name: "s" }, stringData: { password } });
  await create("/api/v1/namespaces/kube-system/configmaps", {
    metadata: { name: "calico-config" },
    data: { veth_mtu: "1440", etcd_password: password },
  });
  await create("/api/v1/namespaces/default/configmaps", { metadata: { name: "theirs" }, data: { a: password } });
  await create("/api/v1/namespaces/kube-system/serviceaccounts", { metadata: { name: "default" } }).catch(
    () => undefined,
  );
  const pod = {
    metadata: { name: "calico-node-1", labels: { "k8s-app": "calico-node" } },
    spec: {
      nodeName: "n1",
      containers: [{ name: "calico-node", image: "x", env: [{ name: "ETCD_PASSWORD", value: password }] }],
    },
  };
  await create("/api/v1/namespaces/kube-system/pods", pod);
  const env = { DATASTORE_TYPE: "kubernetes", KUBECONFIG: cluster.kubeconfig, PATH: "/nowhere" };
  const { rc, stdout, stderr } = await run(cwd, env, "--since", "1h");
  equal(rc, 0, stdout + stderr);
  match(stdout, /^==== Begin collecting diagnostics\. ====\n/);
  match(stdout, /Collecting detailed diags for pod calico-node-1 in namespace kube-system on node n1\.\.\.\n/);
  match(stdout, /There is no kubectl here: .*`ctl node diags`/);
  match(stdout, /==== Producing a diagnostics bundle\. ====\nDiagnostic bundle created at \.\/calico-diagnostics-/);
  const files = unpacked(cwd);
  match(files["cluster/crd/ippools.crd.projectcalico.org.yaml"] ?? "", /cidr: 10\.1\.0\.0\/16/);
  match(files["cluster/kubernetes/configmaps.yaml"] ?? "", /veth_mtu: "1440"/);
  match(files["cluster/version.json"] ?? "", /"gitVersion"/);
  ok(files["cluster/kubernetes/nodes.yaml"] !== undefined);
  // There is no kubelet, so that nobody has the log: that is said, and no reason to stop.
  match(files["errors.txt"] ?? "", /^ERROR reading the log of kube-system\/calico-node-1, container calico-node: /);
  deepEqual(
    Object.entries(files).filter(([name, text]) => text.includes(password) || /secret/i.test(name)),
    [],
  );
});

const json = (body: object) => ({ body });
const pods = ["a", "b", "c"].map((node) => ({
  metadata: { name: `calico-node-${node}`, namespace: "calico-system", labels: { "k8s-app": "calico-node" } },
  spec: { nodeName: node, containers: [{ name: "calico-node" }] },
  status: { containerStatuses: [{ name: "calico-node", restartCount: node === "b" ? 1 : 0 }] },
}));

function playedServer() {
  return startFakeApi([
    (request) => {
      const url = request.url ?? "";
      if (url.startsWith("/version")) return json({ gitVersion: "v1.34.0" });
      if (url === "/apis") return json({ groups: [] });
      if (url === "/api/v1") return json({ resources: [] });
      if (url.includes("/log?")) return { headers: { "content-type": "text/plain" }, body: `log of ${url}\n` };
      if (url.startsWith("/api/v1/pods")) return json({ items: pods, metadata: {} });
      return json({ items: [], metadata: {} });
    },
  ]);
}

test("logs: so many pods of a part, nodes in focus first, the last words of what was restarted", async (t) => {
  const cwd = folder(t);
  await using api = await playedServer();
  mkdirSync(join(cwd, "bin"));
  const kubectl =
    '#!/bin/sh\n[ "$1" = version ] && exit 0\n[ "$8" = ipset ] && { echo no ipset >&2; exit 1; }\necho "$@"\n';
  writeFileSync(join(cwd, "bin/kubectl"), kubectl);
  chmodSync(join(cwd, "bin/kubectl"), 0o755);
  const path = `${join(cwd, "bin")}:/usr/bin:/bin`;
  const env = { DATASTORE_TYPE: "kubernetes", K8S_API_ENDPOINT: api.url, PATH: path };
  const flags = ["--max-logs", "2", "--focus-nodes", "c,b", "--since", "5m", "--max-parallelism", "1"];
  const { rc, stdout } = await run(cwd, env, ...flags);
  equal(rc, 0, stdout);
  const files = unpacked(cwd);
  const logs = Object.keys(files).filter((name) => name.endsWith(".log") && name.includes("calico-system"));
  deepEqual(logs.sort(), [
    "nodes/b/calico-system/calico-node-b.calico-node.log",
    "nodes/b/calico-system/calico-node-b.calico-node.previous.log",
    "nodes/c/calico-system/calico-node-c.calico-node.log",
  ]);
  const query = "container=calico-node&limitBytes=33554432&sinceSeconds=300";
  equal(
    files["nodes/b/calico-system/calico-node-b.calico-node.previous.log"],
    `log of /api/v1/namespaces/calico-system/pods/calico-node-b/log?${query}&previous=true\n`,
  );
  equal(files["nodes/c/ip-rule.txt"], "exec -n calico-system calico-node-c -c calico-node -- ip rule\n");
  match(files["nodes/c/ipset-list.txt"] ?? "", /^failed: kubectl ended with exit code 1/);
});

test("the files are left where --skip-temp-dir-cleanup says", async (t) => {
  const cwd = folder(t);
  await using api = await playedServer();
  const env = { DATASTORE_TYPE: "kubernetes", K8S_API_ENDPOINT: api.url, PATH: "/nowhere" };
  const { stdout } = await run(cwd, env, "--skip-temp-dir-cleanup", "--max-logs", "1");
  const [, kept = ""] = /Created temporary directory: (\S+)\n/.exec(stdout) ?? [];
  t.after(() => rmSync(kept, { recursive: true, force: true }));
  const [root = ""] = readdirSync(kept);
  ok(readdirSync(join(kept, root)).includes("nodes"));
});

test("where nobody answers there is no archive", async (t) => {
  const cwd = folder(t);
  const env = { DATASTORE_TYPE: "kubernetes", K8S_API_ENDPOINT: "http://127.0.0.1:1", PATH: "/nowhere" };
  const { rc } = await run(cwd, env);
  deepEqual([rc, readdirSync(cwd)], [1, []]);
});

test("another datastore is refused", async (t) => {
  const cwd = folder(t);
  const { rc, stderr } = await run(cwd, { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: cwd });
  deepEqual([rc, stderr], [1, "cluster diags asks a Kubernetes API server; this datastore is directory\n"]);
});

// The CNI plugin as a runtime starts it, by its link, on namespaces of its own: a folder keeps pods and pools, and IPAM is the same program.
import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../../src/base/linux/index.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";

const skip = noNamespaces;
const folder = mkdtempSync(join(tmpdir(), "cattail-cni-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const bin = join(folder, "bin");
const objects = join(folder, "objects");
for (const each of [bin, objects]) mkdirSync(each);
for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cattail"), join(bin, name));
const podFile = join(objects, "pods.yaml");
const pod = (name: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  namespace: default\nspec:\n  nodeName: n1\n`;
writeFileSync(podFile, [pod("p1"), pod("p2")].join("---\n"));
writeFileSync(
  join(objects, "rest.yaml"),
  `apiVersion: v1
kind: Namespace
metadata:
  name: default
---
apiVersion: v1
kind: Node
metadata:
  name: n1
---
apiVersion: projectcalico.org/v3
kind: ClusterInformation
metadata:
  name: default
spec:
  datastoreReady: true
---
apiVersion: projectcalico.org/v3
kind: IPPool
metadata:
  name: pool
spec:
  cidr: 10.66.0.0/24
  blockSize: 28
`,
);

const configuration = {
  cniVersion: "1.0.0",
  name: "net",
  type: "calico",
  datastore_type: "directory",
  datastore_directory: objects,
  nodename: "n1",
  nodename_file_optional: true,
  ipam_lock_file: join(folder, "run", "ipam.lock"),
  log_file_path: join(folder, "log", "cni.log"),
  ipam: { type: "calico-ipam" },
  policy: { type: "k8s" },
};
type Called = { readonly code: number; readonly said: { readonly [name: string]: unknown } | undefined };

async function call(
  command: string,
  where: { node: string; netns: string; container: string; pod: string },
): Promise<Called> {
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: folder,
    CNI_COMMAND: command,
    CNI_CONTAINERID: where.container,
    CNI_NETNS: where.netns,
    CNI_IFNAME: "eth0",
    CNI_PATH: bin,
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${where.pod};K8S_POD_INFRA_CONTAINER_ID=${where.container}`,
  };
  const stdin = JSON.stringify(configuration);
  const options = { env, stdin, namespace: where.node, alsoGood: [1], limitMs: 120_000 };
  const { code, stdout } = await runProgram(process.execPath, [join(bin, "calico")], options);
  return { code, said: ["", "OK\n"].includes(stdout) ? undefined : JSON.parse(stdout) };
}

const ip = (namespace: string, ...words: string[]) =>
  execFileSync("ip", ["-n", namespace, ...words], { encoding: "utf8" }).trim();

test("two pods of a node are plugged in and unplugged, and a folder says so", { skip, timeout: 300_000 }, async () => {
  const [node, one, two] = [freshNamespace(), freshNamespace(), freshNamespace()];
  const first = { node: node.path, netns: one.path, container: "c1", pod: "p1" };
  const second = { node: node.path, netns: two.path, container: "c2", pod: "p2" };
  const added = await call("ADD", first);
  equal(added.code, 0, JSON.stringify(added.said));
  const [outside, inside] = (added.said?.interfaces ?? []) as { name: string; sandbox?: string }[]; // compared at once
  deepEqual([outside?.name, inside?.name, inside?.sandbox], ["cali182c452fe96", "eth0", one.path]);
  const again = await call("ADD", first);
  deepEqual(again.said?.ips, added.said?.ips);
  equal((await call("ADD", second)).code, 0);
  equal(ip(node.name, "-o", "link", "show", "type", "veth").split("\n").length, 2);
  match(ip(node.name, "route"), /^10\.66\.0\.\d+ dev cali182c452fe96 scope link/m);
  match(ip(one.name, "route"), /^default via 169\.254\.1\.1 dev eth0/m);
  match(readFileSync(podFile, "utf8"), /cni\.projectcalico\.org\/containerID: "?c1/);
  equal((await call("CHECK", first)).code, 0);
  for (const each of [first, second, first]) deepEqual(await call("DEL", each), { code: 0, said: undefined });
  equal(ip(node.name, "-o", "link", "show", "type", "veth"), "");
  equal((await call("CHECK", first)).code, 1);
  match(
    readFileSync(configuration.log_file_path, "utf8"),
    /\[INFO\]\[\d+\] cni-plugin\/plugin: ADD of container c1 on node n1/,
  );
});

test("a pod's namespace that is the node's own is refused, and nothing in it is touched", {
  skip,
  timeout: 120_000,
}, async () => {
  const node = freshNamespace();
  const { code, said } = await call("DEL", { node: node.path, netns: node.path, container: "c3", pod: "p1" });
  deepEqual([code, said?.code], [1, 8]);
});

test("a pod that is not there is refused by name", { skip, timeout: 120_000 }, async () => {
  const [node, inside] = [freshNamespace(), freshNamespace()];
  const { said } = await call("ADD", { node: node.path, netns: inside.path, container: "c4", pod: "nobody" });
  deepEqual(said, { code: 999, msg: 'pods "nobody" not found' });
});

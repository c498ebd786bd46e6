// Runs docs/guide/hard-way/4-cni.md: every `bash` block, in order, in one shell, as root; a `console` block that follows one is what that one prints.
// The node is a network namespace with a way to a real kube-apiserver, and folders of its own lie over the machine's: what is installed is gone afterwards.
import { deepEqual, equal, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { startCluster } from "../kit/cluster.ts";
import { openDoor } from "../kit/cni-cases/door.ts";
import { installCrds } from "../kit/crds.ts";
import { missingForGuide } from "../kit/guide-shell.ts";
import { KubeStore } from "../kit/ipam-cases/kube-store.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";

const page = "docs/guide/hard-way/4-cni.md";
const missing = await missingForGuide(["kubectl", "bash", "openssl", "ip", "ping", "unshare", "nsenter"]);
/** What a reader's machine has, and what is written to. */
const covered = ["/etc", "/opt", "/var/lib", "/var/log"];

test("every block of the chapter on the CNI plugin works as printed, and prints what the page shows", {
  skip: noNamespaces || (missing ?? false),
  timeout: 600_000,
}, async () => {
  await using cluster = await startCluster();
  const manifests = customKinds.map((kind) => crdManifest(kind));
  await installCrds(cluster, manifests);
  const store = new KubeStore(cluster);
  await store.apply({ kind: "Node", metadata: { name: "cka001" } });
  await store.apply({ kind: "IPPool", metadata: { name: "ipv4-ippool-1" }, spec: { cidr: "10.244.0.0/18" } });
  await store.apply({ kind: "ClusterInformation", metadata: { name: "default" }, spec: { datastoreReady: true } });
  const folder = mkdtempSync(join(tmpdir(), "cattail-hard-way-cni-"));
  const node = freshNamespace();
  using _ = openDoor(node.path, cluster.port);
  try {
    const text = readFileSync(page, "utf8");
    const blocks = [...text.matchAll(/^```bash\n([\s\S]*?)^```$(?:\n\n^```console\n([\s\S]*?)^```$)?/gm)];
    ok(blocks.length > 12);
    const guide = blocks.map(([, code], at) => `echo '=== block ${at}'\n${code}`).join("\n");
    writeFileSync(join(folder, "guide.sh"), `set -euo pipefail\nexec 2>&1\n${guide}\n`);
    writeFileSync(join(folder, "stage.sh"), stageOf(folder, cluster.dir, node.path));
    const env = { ...process.env, PATH: pathWithCattail(folder), KUBECONFIG: cluster.kubeconfig, HOME: folder };
    const words = ["-m", "--propagation", "private", "bash", join(folder, "stage.sh")];
    const { code, output } = await run("unshare", words, env);
    equal(code, 0, `the guide stopped with code ${code}:\n${output.slice(-6000)}`);
    const printed = output.split(/^=== block \d+\n/m).slice(1);
    for (const [at, [, asked, prints]] of blocks.entries())
      if (prints !== undefined) deepEqual(lines(printed[at] ?? ""), lines(prints), asked ?? "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Folders over the machine's, the cluster's CA where kubeadm puts it, an address for the node; then the guide. */
function stageOf(folder: string, certificates: string, namespace: string): string {
  const over = covered.map((path) => {
    const own = join(folder, "over", path.replaceAll("/", "-"));
    const how = `lowerdir=${path},upperdir=${own}/up,workdir=${own}/work`;
    return `mkdir -p ${own}/up ${own}/work && mount -t overlay overlay -o ${how} ${path}`;
  });
  const uplink =
    "ip link set lo up; ip link add up0 type bridge; ip link set up0 up; ip addr add 192.0.2.1/24 dev up0; ip route add default via 192.0.2.254 dev up0 onlink";
  return `set -euo pipefail
mkdir -p ${folder}/over && mount -t tmpfs tmpfs ${folder}/over
${over.join("\n")}
rm -rf /etc/cni /opt/cni /var/lib/calico
mkdir -p /etc/kubernetes/pki /run/calico
mount -t tmpfs tmpfs /run/calico
cp ${certificates}/ca.crt ${certificates}/ca.key /etc/kubernetes/pki/
nsenter --net=${namespace} sh -c "${uplink}"
exec nsenter --net=${namespace} bash ${folder}/guide.sh
`;
}

type Ran = { readonly code: number | null; readonly output: string };

function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((done) => {
    const shell = spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe"], timeout: 540_000 });
    let output = "";
    for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    shell.on("close", (code) => done({ code, output }));
  });
}

function lines(text: string): string[] {
  const all = text.split("\n").map((line) => line.replace(/ +/g, " ").trim());
  return all.filter((line) => line !== "");
}

/** With the checkout's program, and the Node that runs this test. */
function pathWithCattail(folder: string): string {
  const bin = join(folder, "path");
  mkdirSync(bin);
  symlinkSync(resolve("bin/cattail"), join(bin, "cattail"));
  return `${bin}:${dirname(process.execPath)}:${process.env.PATH}`;
}

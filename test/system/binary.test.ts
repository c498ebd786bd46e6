// The single executable, as somebody would run it who has nothing else: from an empty folder, with its own temporary
// folder, and without any of this checkout's files.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runProgram } from "../../src/base/linux/index.ts";
import { Cattail, type CattailOptions, cattail, probe } from "../kit/cattail-process.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { copiedCommit, copyCheckout, runTool } from "../kit/checkout-copy.ts";
import { startCniAgent } from "../kit/cni-agent.ts";
import { freePort } from "../kit/free-port.ts";
import { noLab } from "../kit/lab-under-test.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";

const skip = ["linux", "darwin"].includes(process.platform)
  ? false
  : `single executables are not built on ${process.platform}`;

let folder = "";
let empty = "";
let temporary = "";
const inEmptyFolder = (env: { [name: string]: string } = {}): CattailOptions => ({
  program: [join(folder, "cattail")],
  cwd: empty,
  env: { TMPDIR: temporary, ...env },
});

before(() => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "cattail-binary-"));
  empty = join(folder, "empty");
  temporary = join(folder, "tmp");
  for (const made of [empty, temporary]) mkdirSync(made);
  copyCheckout(join(folder, "checkout"));
  runTool(join(folder, "checkout"), "tools/build-binary.ts", folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the executable says which build it is", { skip }, async () => {
  const { code, stdout } = await cattail(["version", "-o", "json"], inEmptyFolder());
  equal(code, 0);
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const said = JSON.parse(stdout) as { version: string; commit: string }; // printed by src/programs/main/version.ts
  deepEqual([said.version, said.commit], [`v${version}`, copiedCommit]);
});

test("the executable is the same, byte for byte, when it is built in another folder", { skip }, () => {
  const other = join(folder, "another");
  const copy = join(other, "checkout with a longer name");
  copyCheckout(copy, join(folder, "checkout"));
  runTool(copy, "tools/build-binary.ts", other);
  const digest = (home: string, name: string) =>
    createHash("sha256")
      .update(readFileSync(join(home, name)))
      .digest("hex");
  for (const name of ["licences.txt", "cattail"]) equal(digest(other, name), digest(folder, name), name);
  rmSync(other, { recursive: true });
});

test("beside the executable lie the licences of what is inside, Node's among them", { skip }, () => {
  const text = readFileSync(join(folder, "licences.txt"), "utf8");
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    dependencies: { [name: string]: string };
  };
  for (const name of [...Object.keys(dependencies), "preact", "uplot"])
    match(text, new RegExp(`^${name} [\\d.]+ \\(`, "m"));
  match(text, new RegExp(`^Node\\.js ${process.version}$`, "m"));
});

test("the executable makes certificates", { skip }, async () => {
  const made = join(folder, "certs");
  const { code, stderr } = await cattail(["certs", "all", "--dir", made], inEmptyFolder());
  equal(code, 0, stderr);
  ok(readdirSync(made).includes("typha.key"));
});

test("the executable installs itself as the CNI plugin, and is one, with an agent and without", {
  skip: skip || noNamespaces,
  timeout: 300_000,
}, async () => {
  const home = join(folder, "cni");
  const [objects, bin, net] = [join(home, "objects"), join(home, "bin"), join(home, "net.d")];
  const socket = join(home, "run", "cni.sock");
  mkdirSync(objects, { recursive: true });
  const v3 = "projectcalico.org/v3";
  const all = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "p1", namespace: "default" }, spec: { nodeName: "n1" } },
    { apiVersion: v3, kind: "ClusterInformation", metadata: { name: "default" }, spec: { datastoreReady: true } },
    { apiVersion: v3, kind: "IPPool", metadata: { name: "pool" }, spec: { cidr: "10.66.0.0/24", blockSize: 28 } },
  ];
  writeFileSync(join(objects, "all.yaml"), all.map((each) => JSON.stringify(each)).join("\n---\n"));
  const configuration = {
    cniVersion: "1.0.0",
    name: "net",
    type: "calico",
    datastore_type: "directory",
    datastore_directory: objects,
    nodename: "n1",
    nodename_file_optional: true,
    ipam_lock_file: join(home, "run", "ipam.lock"),
    log_file_path: join(home, "cni.log"),
    ipam: { type: "calico-ipam" },
    policy: { type: "k8s" },
  };
  const places = { CNI_BIN_DIR: bin, CNI_NET_DIR: net };
  const list = JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [configuration] });
  const installed = await cattail(["cni", "install"], inEmptyFolder({ ...places, CNI_NETWORK_CONFIG: list }));
  equal(installed.code, 0, installed.stderr);
  deepEqual(readdirSync(bin).sort(), ["calico", "calico-ipam"]);
  equal(statSync(join(bin, "calico")).ino, statSync(join(bin, "calico-ipam")).ino);
  deepEqual(JSON.parse(readFileSync(join(net, "10-calico.conflist"), "utf8")), JSON.parse(list));

  const [node, inside] = [freshNamespace(), freshNamespace()];
  const call = async (command: string, path: string) => {
    const env = {
      PATH: "/usr/bin",
      TMPDIR: temporary,
      CNI_COMMAND: command,
      CNI_CONTAINERID: "c1",
      CNI_NETNS: inside.path,
      CNI_IFNAME: "eth0",
      CNI_PATH: bin,
      CNI_ARGS: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=p1",
      CATTAIL_CNI_SOCKET: path,
    };
    const options = { env, stdin: JSON.stringify(configuration), namespace: node.path, alsoGood: [1], limitMs: 60_000 };
    const { code, stdout, stderr } = await runProgram(join(bin, "calico"), [], options);
    equal(code, 0, `${command}: ${stdout}${stderr}`);
    return stdout;
  };
  const workers = () =>
    [...readFileSync(join(home, "cni.log"), "utf8").matchAll(/\]\[(\d+)\] /g)].map(([, pid]) => pid);
  match(await call("ADD", ""), /"10\.66\.0\.\d+\/32"/);
  await call("DEL", "");
  {
    await using agent = await startCniAgent({
      namespace: node.path,
      socket: socket,
      node: "n1",
      datastore: { type: "directory", path: objects },
    });
    match(await call("ADD", socket), /"10\.66\.0\.\d+\/32"/);
    equal(workers().at(-1), String(agent.process.pid));
    await call("DEL", socket);
    equal(workers().at(-1), String(agent.process.pid));
  }
  const removed = await cattail(["cni", "uninstall"], inEmptyFolder(places));
  equal(removed.code, 0, removed.stderr);
  deepEqual([readdirSync(bin), readdirSync(net)], [[], []]);
});

test("the executable runs the demo: clients in sync over mutual TLS, dashboard, nothing left behind", {
  skip,
}, async () => {
  const ports = ["--port", `${await freePort()}`, "--dashboard-port", `${await freePort()}`];
  await using demo = new Cattail(["demo", "--nodes", "5", "--pods", "20", ...ports], inEmptyFolder());
  const [, url = ""] = await demo.says(/Open the dashboard: (\S+)/);
  for (const [path, holds] of [
    ["", /<!doctype html>/],
    ["page.js", /function/],
    ["page.css", /\{/],
  ] as const) {
    match((await probe(url + path))?.body ?? "", holds, path);
  }
  const [, watching = ""] = await demo.says(/cattail (watch --server .*) --until in-sync --stats/);
  const watch = await cattail([...watching.split(" "), "--until", "in-sync", "--stats"], inEmptyFolder());
  equal(watch.code, 0, watch.stderr);
  demo.process.kill("SIGINT");
  equal(await demo.ended, 0, demo.output);
  deepEqual([readdirSync(empty), readdirSync(temporary)], [[], []]);
});

test("the executable serves a directory with worker threads, is ready, and ends well", { skip }, async () => {
  using certificates = certificateFolder();
  const server = await settings(certificates.folder);
  await using typha = new Cattail(["typha"], inEmptyFolder(server));
  await ready(typha, server);
  ok(!typha.output.includes("worker thread died"), typha.output);
  typha.process.kill("SIGTERM");
  equal(await typha.ended, 0, typha.output);
  deepEqual([readdirSync(empty), readdirSync(temporary)], [[], []]);
});

test("the executable needs no temporary folder where its codecs lie in CATTAIL_ASSETS", { skip }, async () => {
  using certificates = certificateFolder();
  const none = { TMPDIR: join(folder, "none") };
  const server = await settings(certificates.folder);
  const refused = await cattail(["typha"], inEmptyFolder({ ...server, ...none }));
  equal(refused.code, 1);
  match(refused.stderr, /cannot load snappy\.node[\s\S]*emptyDir[\s\S]*CATTAIL_ASSETS/);
  const assets = join(folder, "assets");
  mkdirSync(assets);
  for (const name of ["snappy", "crc32"]) {
    const [addon = ""] = globSync(`node_modules/@*/${name}-${process.platform}-${process.arch}*/*.node`);
    cpSync(addon, join(assets, `${name}.node`));
  }
  await using typha = new Cattail(["typha"], inEmptyFolder({ ...server, ...none, CATTAIL_ASSETS: assets }));
  await ready(typha, server);
});

for (const [name, ...words] of [["calico-typha"], ["calico", "component", "typha"]] as const) {
  test(`a link named ${name} to the executable starts the server`, { skip }, async () => {
    using certificates = certificateFolder();
    const server = await settings(certificates.folder);
    const link = join(folder, name);
    symlinkSync("cattail", link);
    await using typha = new Cattail(words, { ...inEmptyFolder(server), program: [link] });
    await ready(typha, server);
  });
}

const programs: { link: string; words: readonly string[]; env?: { [name: string]: string }; says: RegExp }[] = [
  { link: "calicoctl", words: ["--help"], says: /^Usage: calicoctl COMMAND/ },
  { link: "calico-node", words: ["--help"], says: /^Usage: cattail node/ },
  { link: "calico", words: [], env: { CNI_COMMAND: "VERSION" }, says: /"supportedVersions":\[.*"1\.1\.0"\]/ },
  { link: "calico-ipam", words: [], env: { CNI_COMMAND: "VERSION" }, says: /"supportedVersions":\[/ },
  { link: "cattail", words: ["explain", "--help"], says: /Usage: cattail explain/ },
  { link: "cattail", words: ["lab", "break", "--list"], says: /^underlay/m },
  { link: "cattail", words: ["doctor", "--help"], says: /Usage: cattail doctor/ },
  { link: "cattail", words: ["cni", "install", "--help"], says: /Usage: cattail cni install/ },
];
for (const { link, words, env, says } of programs)
  test(`the executable has everything inside: ${[link, ...words].join(" ")}`, { skip }, async () => {
    const named = join(folder, "named");
    mkdirSync(named, { recursive: true });
    if (!existsSync(join(named, link))) symlinkSync(join(folder, "cattail"), join(named, link));
    const options = { ...inEmptyFolder(env), program: [join(named, link)], stdin: "" };
    const { code, stdout, stderr } = await cattail(words, options);
    equal(code, 0, stdout + stderr);
    match(stdout, says);
  });

test("the executable's lab starts it again, and everybody pings everybody", {
  skip: skip || noLab,
  timeout: 240_000,
}, async (t) => {
  const lab = join(folder, "lab");
  const run = (...words: string[]) => cattail(["lab", ...words, "--folder", lab], inEmptyFolder());
  t.after(() => run("down"));
  const { code, stdout, stderr } = await run("up");
  equal(code, 0, stdout + stderr);
  match(stdout, /^All pings are answered: /m);
  equal((await run("doctor")).code, 0);
});

const readOnlyRoot = "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mount -o remount,ro,bind /";
const unshared = (script: string) => ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
const [unshare = "", ...tryIt] = unshared(`${readOnlyRoot} && ! touch /written 2>/dev/null`);
const noReadOnlyRoot = spawnSync(unshare, tryIt).status === 0 ? skip : "a root cannot be made read-only here (unshare)";

test("the executable serves with a read-only root and a writable temporary folder, as in the Deployment", {
  skip: noReadOnlyRoot,
}, async () => {
  using certificates = certificateFolder();
  const server = { ...(await settings(certificates.folder)), TMPDIR: "/mnt" };
  const program = unshared(`${readOnlyRoot} && exec "$@"`);
  await using typha = new Cattail(["typha"], {
    program: [...program, join(folder, "cattail")],
    cwd: empty,
    env: server,
  });
  await ready(typha, server);
  typha.process.kill("SIGTERM");
  equal(await typha.ended, 0, typha.output);
});

async function settings(certificates: string): Promise<{ [name: string]: string }> {
  const objects = join(certificates, "objects");
  mkdirSync(objects);
  writeFileSync(join(objects, "one.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n");
  return {
    TYPHA_LOGFILEPATH: "none",
    TYPHA_LOGSEVERITYSYS: "none",
    TYPHA_DATASTORETYPE: "directory",
    TYPHA_DATASTOREDIRECTORY: objects,
    TYPHA_WORKERS: "2",
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_SERVERPORT: `${await freePort()}`,
    TYPHA_HEALTHENABLED: "true",
    TYPHA_HEALTHHOST: "127.0.0.1",
    TYPHA_HEALTHPORT: `${await freePort()}`,
    TYPHA_CAFILE: join(certificates, "typhaca.crt"),
    TYPHA_CLIENTCN: "calico-node",
    TYPHA_SERVERCERTFILE: join(certificates, "typha.crt"),
    TYPHA_SERVERKEYFILE: join(certificates, "typha.key"),
    TYPHA_SHUTDOWNTIMEOUTSECS: "10",
  };
}

async function ready(typha: Cattail, { TYPHA_HEALTHPORT: port = "" }: { [name: string]: string }) {
  return typha.until("ready", async () => {
    const answer = await probe(`http://127.0.0.1:${port}/readiness`);
    return answer?.status === 200 ? answer : undefined;
  });
}

// Which of root's capabilities the agent and the plugins need, as SECURITY.md has it in a table: with those of the table everything works, and without
// any one of them what the table says does not.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { ping } from "../../src/base/linux/kernel.ts";
import { openDatastore } from "../../src/calico/datastore/index.ts";
import { buildWorld, Pods } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";

const needed = ["net_admin", "sys_admin", "sys_ptrace"] as const;
const neededByBird = "net_bind_service";
const options = { skip: noNamespaces, timeout: 300_000 };
/** For an agent that is to become ready. */
const readyOptions = { ...options, skip: noNamespaces || missingProgram("nft") };
const program = resolve("bin/cattail");

test("SECURITY.md has exactly the capabilities that are needed", () => {
  const page = readFileSync("SECURITY.md", "utf8");
  const table = /\| capability \|[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)+)/.exec(page)?.[1] ?? "";
  const rows = [...table.matchAll(/^\| `CAP_(\w+)` \|/gm)].map(([, name]) => name?.toLowerCase());
  deepEqual(rows, [...needed, neededByBird]);
});

async function nodeWith(t: TestContext, capabilities: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "cattail-capabilities-"));
  const stack = afterTest(t);
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const world = stack.use(await buildWorld({ folder: join(folder, "world"), nodes: 1 }));
  const [node] = world.nodes;
  if (node === undefined) throw new Error("there is no node");
  const directory = join(folder, "datastore");
  mkdirSync(directory);
  const env = {
    PATH: process.env.PATH ?? "",
    NODENAME: node.name,
    DATASTORE_TYPE: "directory",
    DATASTORE_DIRECTORY: directory,
    CALICO_NETWORKING_BACKEND: "vxlan",
    CALICO_IPV4POOL_CIDR: "10.78.0.0/16",
    CALICO_IPV4POOL_VXLAN: "Always",
    IP: "autodetect",
    FELIX_HEALTHENABLED: "true",
    FELIX_LOGSEVERITYSYS: "none",
    CALICO_DISABLE_FILE_LOGGING: "true",
  };
  const log = join(folder, "agent.log");
  const only = `-all,${capabilities.map((name) => `+${name}`).join(",")}`;
  const reduced = ["setpriv", "--bounding-set", only, "--inh-caps", only, "--no-new-privs", process.execPath, program];
  const [setpriv = "", ...words] = reduced;
  node.start(setpriv, [...words, "node", "run"], { env, log });
  const isReady = async () =>
    (await node.run(process.execPath, [program, "node", "health", "--felix-ready"], { env, alsoGood: [1] })).code === 0;
  const said = () => readFileSync(log, "utf8");
  const datastore = stack.use(
    await openDatastore({ type: "directory", path: directory }, { clock: systemClock, log: silentLog }),
  );
  await datastore.create("Namespace", { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cni-plugin.cjs"), join(bin, name));
  // A plugin that may change nothing can only ask the agent: who does the work is beyond doubt. It looks at /proc/PID/ns/net, which is what a lab's
  // pods are named by.
  const looks = "-all,+sys_ptrace";
  const little = ["setpriv", "--bounding-set", looks, "--inh-caps", looks, "--no-new-privs", process.execPath];
  const configuration = {
    cniVersion: "1.0.0",
    name: "net",
    type: "calico",
    datastore_type: "directory",
    datastore_directory: directory,
    nodename: node.name,
    ipam: { type: "calico-ipam" },
    policy: { type: "k8s" },
  };
  const plugin = { before: little, folder: bin };
  const pods = stack.use(new Pods({ world, datastore, plugin, configuration: () => configuration }));
  return { node, said, isReady, pods };
}

test(
  `the agent works with ${needed.join(", ")} alone: start-up, routes, tunnels, rules, and a pod`,
  readyOptions,
  async (t) => {
    const { node, said, isReady, pods } = await nodeWith(t, needed);
    await eventually(isReady, () => `ready\n${said().slice(-6000)}`);
    const pod = await pods.add({ name: "web", node: node.name });
    // The pod's interface is closed until the agent has its rules in.
    await eventually(
      async () => (await ping(pod.address, { namespace: node.netns, count: 1 })).received === 1,
      () => `the node reaches the pod\n${said().slice(-6000)}`,
    );
    equal(/EPERM|not permitted/i.test(said()), false, said().slice(-3000));
  },
);

test("without net_admin it is not ready, and says why", options, async (t) => {
  const { said, isReady } = await nodeWith(t, ["sys_admin", "sys_ptrace"]);
  await eventually(
    () => /EPERM|not permitted/i.test(said()),
    () => said().slice(-6000),
  );
  equal(await isReady(), false);
  match(said(), /EPERM|not permitted/i);
});

test("without sys_admin it keeps routes and rules, and cannot enter a pod", readyOptions, async (t) => {
  const { node, said, isReady, pods } = await nodeWith(t, ["net_admin", "sys_ptrace"]);
  await eventually(isReady, () => `ready\n${said().slice(-6000)}`);
  await rejects(pods.add({ name: "web", node: node.name }), /not permitted|EPERM/i);
});

for (const { capabilities, listens } of [
  { capabilities: ["net_admin", neededByBird], listens: true },
  { capabilities: ["net_admin"], listens: false },
]) {
  const outcome = listens ? "listens" : "does not listen";
  const skip = noNamespaces || missingProgram("bird");
  test(`BIRD with ${capabilities.join(" and ")} ${outcome} on its port`, { ...options, skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-bird-capabilities-"));
    const stack = afterTest(t);
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const inside = ["nsenter", `--net=${freshNamespace().path}`] as const;
    const peer = "protocol bgp peer { local 192.0.2.1 as 65000; neighbor 192.0.2.2 as 65000; ipv4 {}; }";
    writeFileSync(join(folder, "bird.cfg"), `router id 192.0.2.1;\nprotocol device {}\n${peer}\n`);
    const only = `-all,${capabilities.map((name) => `+${name}`).join(",")}`;
    const files = ["-c", join(folder, "bird.cfg"), "-s", join(folder, "bird.ctl")];
    const words = ["setpriv", "--bounding-set", only, "--inh-caps", only, "bird", "-f", "-d", ...files];
    const bird = spawn(inside[0], [inside[1], ...words], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(bird, "exit");
    stack.defer(async () => {
      bird.kill("SIGKILL");
      await ended;
    });
    let said = "";
    bird.stderr.on("data", (chunk: Buffer) => (said += chunk));
    // Port 179, in state 0A: listening.
    const isListening = () =>
      /:00B3 \S+ 0A /.test(spawnSync(inside[0], [inside[1], "cat", "/proc/net/tcp"], { encoding: "utf8" }).stdout);
    await eventually(
      () => (listens ? isListening() : said.includes("Cannot open listening socket")),
      () => said,
    );
    equal(isListening(), listens);
  });
}

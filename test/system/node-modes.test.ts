// The whole agent on three nodes, of which one is in another network, with pods that the CNI plugin made: they reach each other in every mode,
// modes change under a running ping, and so does an agent that is killed and started again. Nothing is lost.
import { equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { ping } from "../../src/base/linux/kernel.ts";
import { openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { buildWorld, type LabNode, Pods } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";
import { pingOn } from "../kit/route-nodes/ping-process.ts";

const options = { skip: noNamespaces || missingProgram("nft"), timeout: 600_000 };
const program = resolve("bin/cattail");

async function threeAgents(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "cattail-node-modes-"));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  const networkOf = (node: number): number => (node === 3 ? 1 : 0);
  const world = afterTest(t).use(await buildWorld({ folder: join(folder, "world"), nodes: 3, networkOf }));
  const [objects, bin] = [join(folder, "objects"), join(folder, "bin")];
  for (const each of [objects, bin]) mkdirSync(each);
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
  writeFileSync(join(objects, "namespace.json"), JSON.stringify(namespace));
  for (const name of ["calico", "calico-ipam"]) symlinkSync(program, join(bin, name));
  const envOf = (node: LabNode) => ({
    ...{ PATH: process.env.PATH ?? "", NODENAME: node.name, IP: "autodetect" },
    ...{ DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: objects, CALICO_NETWORKING_BACKEND: "vxlan" },
    ...{ CALICO_IPV4POOL_CIDR: "10.77.0.0/16", CALICO_IPV4POOL_VXLAN: "Always", CALICO_IPV4POOL_NAT_OUTGOING: "false" },
    ...{ FELIX_IPV6SUPPORT: "false", FELIX_HEALTHENABLED: "true", FELIX_LOGSEVERITYSYS: "none" },
    ...{ CALICO_DISABLE_FILE_LOGGING: "true", FELIX_DEFAULTENDPOINTTOHOSTACTION: "ACCEPT" },
  });
  const logOf = (node: LabNode) => join(folder, `${node.name}.log`);
  const start = (node: LabNode) =>
    node.start(process.execPath, [program, "node", "run"], { env: envOf(node), log: logOf(node) });
  const health = [program, "node", "health", "--felix-ready"];
  const isReady = async (node: LabNode) =>
    (await node.run(process.execPath, health, { env: envOf(node), alsoGood: [1] })).code === 0;
  const ready = async (nodes: readonly LabNode[]) => {
    for (const node of nodes) {
      await eventually(
        () => isReady(node),
        () => `${node.name} is not ready\n${readFileSync(logOf(node), "utf8").slice(-4_000)}`,
      );
    }
  };
  const setMode = async (vxlanMode: string) => {
    const [node] = world.nodes;
    const patch = JSON.stringify({ spec: { vxlanMode } });
    const words = [program, "ctl", "patch", "ippool", "default-ipv4-ippool", "-p", patch];
    if (node !== undefined) await node.run(process.execPath, words, { env: envOf(node) });
  };
  return { world, objects, bin, start, ready, setMode };
}

test("pods of three nodes in every mode, switched and with agents killed under a running ping", options, async (t) => {
  const { world, objects, bin, start, ready, setMode } = await threeAgents(t);
  const agents = world.nodes.map(start);
  await ready(world.nodes);
  const datastore = afterTest(t).use(await openDirectoryDatastore({ path: objects }));
  const pods = afterTest(t).use(
    new Pods({
      world,
      datastore,
      plugin: { before: [process.execPath], folder: bin },
      configuration: ({ name: nodename }) => ({
        ...{ cniVersion: "0.3.1", name: "k8s-pod-network", type: "calico", nodename, nodename_file_optional: true },
        ...{ datastore_type: "directory", datastore_directory: objects },
        ...{ ipam: { type: "calico-ipam" }, policy: { type: "k8s" } },
      }),
    }),
  );
  const made = [];
  for (const { name } of world.nodes) made.push(await pods.add({ name: `pod-${name}`, node: name }));
  const [one, two, three] = pods.ends(() => "all");
  ok(one && two && three && made.length === 3);
  const reaches = (from: typeof one, to: typeof one) =>
    eventually(
      async () => (await ping(to.address, { namespace: from.netns, count: 1, timeoutMs: 500 })).received === 1,
      `${from.name} reaches ${to.name}`,
    );
  for (const from of [one, two, three]) for (const to of [one, two, three]) if (from !== to) await reaches(from, to);

  const startedMs = performance.now();
  const steps: string[] = [];
  const step = (what: string) => steps.push(`${Math.round(performance.now() - startedMs)} ms: ${what}`);
  const near = await pingOn(t, one.netns, two.address, 10);
  const far = await pingOn(t, one.netns, three.address, 10);
  for (const mode of ["CrossSubnet", "Always", "CrossSubnet"]) {
    step(mode);
    await setMode(mode);
    await ready(world.nodes);
    await reaches(two, three);
  }
  // Killed, and started again: what it left is in force all the time.
  for (const [i, node] of world.nodes.entries()) {
    step(`${node.name} killed`);
    const gone = new Promise((done) => agents[i]?.once("exit", done));
    agents[i]?.kill("SIGKILL");
    await gone;
    agents[i] = start(node);
  }
  await ready(world.nodes);
  const acrossNetworks = await far.stop();
  equal(acrossNetworks.lost, 0, `to the other network: ${JSON.stringify(acrossNetworks)}`);
  // Without encapsulation the router between the networks knows no pods.
  step("Never");
  await setMode("Never");
  await ready(world.nodes);
  await reaches(two, one);
  step("Always");
  await setMode("Always");
  await ready(world.nodes);
  await reaches(one, three);
  step("the end");
  const within = await near.stop();
  equal(within.lost, 0, `within the network: ${JSON.stringify({ ...within, steps })}`);
});

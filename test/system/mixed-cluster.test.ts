// A cluster in which one node runs the original's programs (CATTAIL_ORIGINAL_CALICO is the path of its combined program `calico`) and the
// others ours, on one API server and one Typha: everybody reaches everybody, while the one node is exchanged, and exchanged back. All the time pings are
// answered, connections stay open, and a port that a policy closes stays closed.
import { deepEqual, equal, ok } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runProgram } from "../../src/base/linux/index.ts";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab, type LabOptions } from "../../src/programs/lab/cluster/lab.ts";
import { launcher } from "../../src/programs/lab/cluster/launcher.ts";
import { startRelay } from "../../src/programs/lab/relay.ts";
import { ended, isWhole, type LabNode } from "../../src/programs/lab/world/index.ts";
import { defaultInstallOptions, manifests } from "../../src/programs/manifests/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { isReady, noOriginal, original, originalAgent, originalEnvironment, usePlugins } from "../kit/original-node.ts";
import { steadyTraffic } from "../kit/steady-traffic.ts";

const skip = noNamespaces || (await clusterPeer()).missing || noOriginal;

const exchanged = "cka003";

test("a node changes from our agent to the original's and back, and no ping is lost on the way", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const folder = folderOf(t);
  await using cluster = await startCluster();
  await using lab = await startLab(t, cluster, folder);
  await lab.addFirstPods();
  await everybodyReachesEverybody(lab);

  const node = lab.world.node(exchanged);
  await using steady = await steadyTraffic(lab);
  // To the original: its agent starts beside our rules, which go when its own are there.
  await lab.stopAgent(exchanged);
  const theirs = keepOriginal(lab, node, folder);
  const said = () => readFileSync(join(folder, "logs", "original.log"), "utf8").slice(-3000);
  await eventually(
    () => isReady(node),
    () => `the original's agent is ready; it said\n${said()}`,
    90_000,
  );
  await ours(lab, node, ["node", "hand-over"]);
  usePlugins(node, original ?? "", { isNode: false });
  await lab.addPod({ name: "by-the-original", node: exchanged });
  await everybodyReachesEverybody(lab);

  // And back: ours programs its own rules first, and then takes the original's away.
  await theirs.end();
  lab.startAgent(exchanged);
  await eventually(() => isReady(node), "our agent is ready again", 60_000);
  const { stdout: tables } = await node.run("nft", ["list", "tables"]);
  ok(tables.includes("inet cattail"));
  ok(!tables.includes("table ip calico"), tables);
  usePlugins(node, launcher().file, { isNode: true });
  // Each plugin removes what the other has made.
  await lab.pods.remove("by-the-original");
  await lab.addPod({ name: "by-ours", node: exchanged });
  await everybodyReachesEverybody(lab);

  t.diagnostic(await steady.check());
});

test("from the original's programs to ours, one part at a time, and back: Typha, ctl, the plugin, the agent", {
  skip,
  timeout: 600_000,
}, async (t) => {
  const folder = folderOf(t);
  await using cluster = await startCluster();
  await using lab = await startLab(t, cluster, folder, { words: originalAgent, env: originalEnvironment });
  const theirTypha = [original ?? "", "component", "typha"];
  const exchangeTypha = async (words?: readonly string[]) => {
    await lab.killTypha();
    lab.runTypha(words);
    for (const node of lab.world.nodes) await eventually(() => isReady(node), `${node.name} follows it`, 120_000);
  };
  await exchangeTypha(theirTypha);
  for (const node of lab.world.nodes) usePlugins(node, original ?? "", { isNode: false });
  await lab.addFirstPods();
  await everybodyReachesEverybody(lab);
  const node = lab.world.node(exchanged);
  await using steady = await steadyTraffic(lab);

  await t.test("Typha", async () => {
    await exchangeTypha();
    await everybodyReachesEverybody(lab);
  });
  await t.test("ctl: what one writes the other reads and removes", async () => {
    const ctl = async (words: readonly string[], args: readonly string[], stdin = "") => {
      const [program = "", ...before] = words;
      const env = { PATH: process.env.PATH ?? "", DATASTORE_TYPE: "kubernetes", KUBECONFIG: cluster.kubeconfig };
      return (await runProgram(program, [...before, ...args], { env, stdin })).stdout;
    };
    const [theirs, own] = [
      [original ?? "", "ctl"],
      [...launcher().words, "ctl"],
    ];
    const nodes = ["get", "nodes", "-o", "wide"];
    deepEqual(words(await ctl(own, nodes)), words(await ctl(theirs, nodes)));
    for (const [writer, reader] of [
      [theirs, own],
      [own, theirs],
    ] as const) {
      await ctl(writer, ["create", "-f", "-"], JSON.stringify(allowAll));
      ok(/allow-all/.test(await ctl(reader, ["get", "globalnetworkpolicies"])));
      await ctl(reader, ["delete", "globalnetworkpolicy", "allow-all"]);
      ok(!/allow-all/.test(await ctl(writer, ["get", "globalnetworkpolicies"])));
    }
    await everybodyReachesEverybody(lab);
  });
  await t.test("the plugin: ours makes a pod beside theirs", async () => {
    await lab.addPod({ name: "by-the-original", node: exchanged });
    usePlugins(node, launcher().file, { isNode: true });
    await lab.addPod({ name: "by-ours", node: exchanged });
    await lab.pods.remove("by-the-original"); // by ours
    await everybodyReachesEverybody(lab);
  });
  await t.test("the agent", async () => {
    await lab.stopAgent(exchanged);
    lab.startAgent(exchanged, "ours");
    await eventually(() => isReady(node), "our agent is ready", 120_000);
    await eventually(async () => (await tablesOf(node)).join() === "cattail", "the original's rules are gone");
    await everybodyReachesEverybody(lab);
  });
  await t.test("and back: the agent, the plugin, Typha", async () => {
    await lab.stopAgent(exchanged);
    lab.startAgent(exchanged);
    await eventually(() => isReady(node), "the original's agent is ready", 120_000);
    await ours(lab, node, ["node", "hand-over"]);
    equal((await tablesOf(node)).includes("cattail"), false);
    usePlugins(node, original ?? "", { isNode: false });
    await lab.pods.remove("by-ours"); // by theirs
    await lab.addPod({ name: "by-the-original-again", node: exchanged });
    await exchangeTypha(theirTypha);
    await everybodyReachesEverybody(lab);
  });
  t.diagnostic(await steady.check());
});

const allowAll = {
  apiVersion: "projectcalico.org/v3",
  kind: "GlobalNetworkPolicy",
  metadata: { name: "allow-all" },
  spec: {
    selector: "all()",
    types: ["Ingress", "Egress"],
    ingress: [{ action: "Allow" }],
    egress: [{ action: "Allow" }],
  },
};

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Of agents: the names of their tables. */
async function tablesOf(node: LabNode): Promise<string[]> {
  const { stdout } = await node.run("nft", ["list", "tables"]);
  const names = [...stdout.matchAll(/^table \S+ (\S+)/gm)].map(([, name = ""]) => name);
  return [...new Set(names.filter((name) => /^(cattail|calico)/.test(name)))].sort();
}

/** With a folder for its logs; it goes after the lab. */
function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "cattail-mixed-"));
  mkdirSync(join(folder, "logs"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Three nodes on that cluster, with CRDs as our manifests have them. */
async function startLab(t: TestContext, cluster: Cluster, folder: string, agent?: LabOptions["agent"]): Promise<Lab> {
  await installCrds(cluster, manifests("crds", { ...defaultInstallOptions, serviceMonitor: false }));
  const { relay, inside } = await givenDatastore({ kubeconfig: cluster.kubeconfig }, folder);
  ok(relay !== undefined);
  const server = await startRelay({ path: relay.socket }, { host: "127.0.0.1", port: relay.port });
  t.after(() => server.close());
  const given = agent === undefined ? {} : { agent };
  const options = { folder, nodes: 3, mode: "vxlan", ...given, ...inside, relay, say: () => undefined } as const;
  return await Lab.start(options, false);
}

async function everybodyReachesEverybody(lab: Lab): Promise<void> {
  const pinged = await lab.pingUntilWhole(30_000);
  deepEqual(
    pinged.filter((pair) => !isWhole(pair)).map(({ from, to }) => `${from.name} -> ${to.name}`),
    [],
  );
}

/** Its agent ends by itself to take up what has changed, and counts on being started again. */
function keepOriginal(lab: Lab, node: LabNode, folder: string): { end(): Promise<void> } {
  const env = {
    ...lab.agentEnvironment(node),
    FELIX_FELIXHOSTNAME: node.name,
    ...originalEnvironment,
  };
  let isWanted = true;
  const log = join(folder, "logs", "original.log");
  const start = (): ChildProcess => {
    const started = node.start(original ?? "", ["component", "felix"], { env, log });
    started.once("exit", () => {
      if (isWanted) child = start();
    });
    return started;
  };
  let child = start();
  return {
    async end() {
      isWanted = false;
      await ended(child, "SIGTERM");
    },
  };
}

async function ours(lab: Lab, node: LabNode, words: readonly string[]): Promise<void> {
  const [program = "", ...args] = [...launcher().words, ...words];
  await node.run(program, args, { env: lab.agentEnvironment(node) });
}

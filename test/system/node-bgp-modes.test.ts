// The whole agent with BIRD on three nodes, and pods that the CNI plugin made: they reach each other over the mesh and over a route reflector, and
// go on doing so while BIRD, an agent or Typha is killed under running pings. npm test leaves Typha away for some seconds, the rest for a minute.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { holds, isRecord, parseJson, parseRange } from "../../src/base/lib/index.ts";
import { mainTable, type Netlink, openNetlink } from "../../src/base/linux/kernel.ts";
import { bridgeProtocol } from "../../src/calico/routing/index.ts";
import { gatherStatus } from "../../src/node/bird/index.ts";
import { birdsOf, killBirds } from "../../src/programs/lab/cluster/birds.ts";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { launcher } from "../../src/programs/lab/cluster/launcher.ts";
import { nodeObject } from "../../src/programs/lab/cluster/objects.ts";
import { ended, isWhole } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";
import { pingOn } from "../kit/route-nodes/ping-process.ts";

const needed = ["bird", "nft", "curl", "unshare", "setpriv"].map(missingProgram);
const skip = noNamespaces || (needed.find((each) => each !== false) ?? false);

const absenceMs = process.env.CATTAIL_TEST_PART === "usual" ? 8_000 : 60_000;
const prefix = "cattail-bgp-modes-";
const [first, second, third] = ["cka001", "cka002", "cka003"] as const;
const nodeNames = [first, second, third] as const;
type NodeName = (typeof nodeNames)[number];
const podOn = (node: NodeName) => `pod-${node}`;
const addressOf = { [first]: "172.31.0.11", [second]: "172.31.0.12", [third]: "172.31.0.13" } as const;

test("pods of three nodes over BGP, with whatever keeps it going changed, killed and removed", {
  skip,
  timeout: 600_000,
}, async (t) => {
  sweep();
  const lab = await startLab(t);
  await t.test("the mesh: everybody reaches everybody", async () => {
    await sessionsAre(lab, mesh);
    await everybodyReachesEverybody(lab);
    await allAreReady(lab);
  });

  await t.test("the pools go to VXLAN, and back to BGP, and no ping is lost", async (step) => {
    const lost = await pingAround(step, lab);
    await setPools(lab, "Always");
    for (const at of nodeNames)
      await eventually(async () => (await waysOf(lab, at)).every((way) => way === "tunnel"), `${at} uses the tunnel`);
    await allAreReady(lab);
    await setPools(lab, "Never");
    for (const at of nodeNames)
      await eventually(
        async () => (await waysOf(lab, at)).every((way) => way === "BIRD"),
        `${at} has the routes of BIRD`,
      );
    await allAreReady(lab);
    deepEqual(await lost(), []);
  });

  await t.test("BIRD is killed: another one takes its place, and no ping is lost", async (step) => {
    const lost = await pingAround(step, lab);
    const node = lab.world.node(second);
    const before = birdsOf(node);
    killBirds(node);
    await eventually(() => birdsOf(node).some((pid) => !before.includes(pid)), "another BIRD");
    await sessionsAre(lab, mesh);
    await allAreReady(lab); // which is after its wait for its peers
    deepEqual(await lost(), []);
  });

  await t.test("an agent is killed and started again: BIRD stays, and no ping is lost", async (step) => {
    const lost = await pingAround(step, lab);
    const node = lab.world.node(second);
    const before = birdsOf(node);
    const agent = lab.agentOf(second);
    ok(agent !== undefined && before.length === 1);
    await ended(agent, "SIGKILL");
    deepEqual(birdsOf(node), before);
    lab.startAgent(second);
    await allAreReady(lab);
    deepEqual(birdsOf(node), before);
    deepEqual(await lost(), []);
  });

  await t.test("the mesh gets another port, and another AS number, and no ping is lost", async (step) => {
    const lost = await pingAround(step, lab);
    for (const [spec, text] of [
      [{ nodeToNodeMeshEnabled: true, listenPort: 1790 }, " port 1790 as 64512;"],
      [{ nodeToNodeMeshEnabled: true, asNumber: 64600 }, " as 64600;"],
      [{ nodeToNodeMeshEnabled: true }, " as 64512;"],
    ] as const) {
      await lab.resources.apply("BGPConfiguration", configuration(spec));
      for (const name of nodeNames)
        await eventually(() => {
          const own = new RegExp(`local ${addressOf[name]}(.*)`, "g");
          const told = [...birdConfiguration(lab, name).matchAll(own)].map(([, rest]) => rest);
          return told.length === 2 && told.every((each) => each === text);
        }, `${name} says${text}`);
      await sessionsAre(lab, mesh);
      await allAreReady(lab);
      for (const name of nodeNames)
        await eventually(async () => !(await isBridged(lab, name)), `${name} has nothing left of it`);
    }
    deepEqual(await lost(), []);
  });

  await t.test(
    "from the mesh to a route reflector and no ping is lost, to and from the reflector neither",
    async (step) => {
      const lost = await pingAround(step, lab);
      await lab.resources.create("BGPPeer", peerOfReflectors);
      // Its sessions change their kind in one step, so they are not up for a moment: what they had stays in the kernel meanwhile.
      await setReflector(lab, "1.0.0.1");
      await sessionsAre(lab, meshBesideReflector);
      for (const [at, to] of [[second, third] as const, [third, second] as const])
        await eventually(() => isReflected(lab, at, to), `the reflector has told ${at} of ${to}`);
      await lab.resources.apply("BGPConfiguration", configuration({ nodeToNodeMeshEnabled: false }));
      await sessionsAre(lab, reflector);
      await allAreReady(lab);
      await everybodyReachesEverybody(lab);
      deepEqual(await lost(), []);
      for (const name of nodeNames)
        await eventually(async () => !(await isBridged(lab, name)), `${name} has nothing left of it`);
      const { stdout } = await ours(lab, second, ["node", "status"]);
      match(stdout, /\| 172\.31\.0\.11 +\| Node +\| up .*\| Established/);
      ok(!stdout.includes("| Mesh"), stdout);
    },
  );

  await t.test("a node is removed, and its routes with it; added again, they are back", async () => {
    const id = { namespace: "", name: third };
    await lab.datastore.delete("Node", id);
    for (const at of [first, second]) await eventually(async () => !(await isRouted(lab, at, third)), `${at} forgets`);
    await sessionsAre(lab, { [first]: [`Node ${addressOf[second]}`], [second]: reflector[second] });
    let last = "";
    await eventually(
      async () => {
        const { details, body } = await readiness(lab, third);
        last = body;
        return details.get("bird")?.includes("there is no such node") === true;
      },
      () => `the agent of ${third} misses its Node; it says ${last}\n${logOf(lab, third)}`,
    );
    // As a kubelet registers it, and the agent that starts there completes it.
    await lab.datastore.create("Node", nodeObject(lab.world.node(third)));
    await lab.stopAgent(third);
    lab.startAgent(third);
    await sessionsAre(lab, reflector);
    for (const at of [first, second]) await eventually(() => isRouted(lab, at, third), `${at} knows it again`);
    await everybodyReachesEverybody(lab);
    await allAreReady(lab);
  });

  await t.test(
    "Typha is away: pings go on, agents say so, and what was changed arrives with the next one",
    async (step) => {
      const lost = await pingAround(step, lab);
      const sinceMs = performance.now();
      await lab.killTypha();
      for (const name of nodeNames)
        for (const component of ["CalculationGraph", "bgp"])
          await eventually(
            async () => (await detailOf(lab, name, component)) !== "",
            `${name} says so of ${component}`,
          );
      equal((await readiness(lab, first)).ready, false);
      await lab.addPod({ name: "pod-meanwhile", node: first });
      await lab.resources.apply("BGPConfiguration", configuration({ nodeToNodeMeshEnabled: true }));
      await setReflector(lab, null);
      await lab.resources.delete("BGPPeer", { namespace: "", name: peerOfReflectors.metadata.name });
      await sleep(Math.max(0, absenceMs - (performance.now() - sinceMs)));
      for (const name of nodeNames) deepEqual(await established(lab, name), reflector[name]);
      deepEqual(await lost(), []);
      lab.runTypha();
      await sessionsAre(lab, mesh);
      await everybodyReachesEverybody(lab);
      await allAreReady(lab);
    },
  );
});

/** A BIRD outlives the agent that started it, so one of a test that was killed may still be there: its mounts have the test's folder. */
function sweep(): void {
  for (const pid of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "bird") continue;
      const [, test] = new RegExp(`/${prefix}(\\d+)-`).exec(readFileSync(`/proc/${pid}/mountinfo`, "utf8")) ?? [];
      if (test !== undefined && !existsSync(`/proc/${test}`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

async function startLab(t: TestContext): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["logs", "objects"]) mkdirSync(join(folder, name));
  const { inside } = await givenDatastore({}, folder);
  const options = { folder, nodes: 3, mode: "bgp" as const, ...inside, say: () => undefined };
  const lab = afterTest(t).use(await Lab.start(options, false));
  await Promise.all(nodeNames.map((node) => lab.addPod({ name: podOn(node), node })));
  return lab;
}

type Sessions = { readonly [node in NodeName]?: readonly string[] };

const fullMesh = (node: NodeName) => nodeNames.filter((each) => each !== node).map((each) => `Mesh ${addressOf[each]}`);
const mesh = { [first]: fullMesh(first), [second]: fullMesh(second), [third]: fullMesh(third) };
const reflector = {
  [first]: [`Node ${addressOf[second]}`, `Node ${addressOf[third]}`],
  [second]: [`Node ${addressOf[first]}`],
  [third]: [`Node ${addressOf[first]}`],
};
const meshBesideReflector = {
  [first]: reflector[first],
  [second]: [`Mesh ${addressOf[third]}`, `Node ${addressOf[first]}`],
  [third]: [`Mesh ${addressOf[second]}`, `Node ${addressOf[first]}`],
};

const peerOfReflectors = {
  apiVersion: "projectcalico.org/v3",
  kind: "BGPPeer",
  metadata: { name: "reflectors" },
  spec: { nodeSelector: "!has(route-reflector)", peerSelector: "has(route-reflector)" },
};

type Wanted = { readonly nodeToNodeMeshEnabled: boolean; readonly listenPort?: number; readonly asNumber?: number };

function configuration(spec: Wanted) {
  return { apiVersion: "projectcalico.org/v3", kind: "BGPConfiguration", metadata: { name: "default" }, spec };
}

function birdConfiguration(lab: Lab, name: NodeName): string {
  return readFileSync(lab.world.node(name).path("/etc/calico/confd/config/bird.cfg"), "utf8");
}

async function setReflector(lab: Lab, clusterId: string | null): Promise<void> {
  const labels = { "route-reflector": clusterId === null ? null : "true" };
  const annotations = { "projectcalico.org/RouteReflectorClusterID": clusterId };
  await lab.datastore.patch("Node", { namespace: "", name: first }, { metadata: { labels, annotations } });
}

async function bgpOf(lab: Lab, node: NodeName) {
  const sockets = [lab.world.node(node).path("/var/run/calico/bird.ctl")];
  return (await gatherStatus({ 4: sockets, 6: sockets }, { routes: true }))[4];
}

/** All that BIRD has, the others with the state that they are in. */
async function established(lab: Lab, node: NodeName): Promise<string[]> {
  const status = await bgpOf(lab, node);
  if (status.is === "absent") return [status.why];
  return status.sessions
    .map(({ kind, address, bgpState }) => `${kind} ${address}${bgpState === "Established" ? "" : ` ${bgpState}`}`)
    .sort();
}

async function sessionsAre(lab: Lab, wanted: Sessions): Promise<void> {
  for (const node of nodeNames) {
    const sessions = wanted[node];
    if (sessions === undefined) continue;
    let last: string[] = [];
    await eventually(
      async () => {
        last = await established(lab, node);
        return last.join() === sessions.join();
      },
      () => `${node} has the sessions ${sessions.join(", ")}; it has ${last.join(", ")}\n${logOf(lab, node)}`,
    );
  }
}

async function isReflected(lab: Lab, at: NodeName, to: NodeName): Promise<boolean> {
  const status = await bgpOf(lab, at);
  const session = `Node_${addressOf[first].replaceAll(".", "_")}`;
  return (
    status.is === "running" && status.routes.some(({ gateway, from }) => gateway === addressOf[to] && from === session)
  );
}

/** In the kernel, to a block of the node. */
async function isRouted(lab: Lab, at: NodeName, to: NodeName): Promise<boolean> {
  await using netlink = openNetlink({ namespace: lab.world.node(at).netns });
  return (await netlink.routes({ family: "inet" })).some(({ gateway }) => gateway === addressOf[to]);
}

/** How the node reaches each pod of the others. */
async function waysOf(lab: Lab, at: NodeName): Promise<readonly string[]> {
  await using netlink = openNetlink({ namespace: lab.world.node(at).netns });
  const tunnel = await netlink.link("vxlan.calico");
  const others = nodeNames.filter((name) => name !== at);
  return await Promise.all(
    others.map(async (name) => {
      const { index } = await netlink.routeTo(lab.pods.get(podOn(name)).address);
      return index === tunnel?.index ? "tunnel" : (await isLeftToBird(netlink, lab, name)) ? "BIRD" : "neither";
    }),
  );
}

async function isLeftToBird(netlink: Netlink, lab: Lab, to: NodeName): Promise<boolean> {
  const pod = parseRange(lab.pods.get(podOn(to)).address);
  const routes = (await netlink.routes({ family: "inet", table: mainTable })).filter(({ destination }) => {
    const range = parseRange(destination);
    return range !== undefined && range.prefixLength > 16 && pod !== undefined && holds(range, pod);
  });
  return routes.length > 0 && routes.every(({ protocol }) => protocol === "bird");
}

async function setPools(lab: Lab, vxlanMode: "Always" | "Never"): Promise<void> {
  for (const { metadata } of (await lab.resources.list("IPPool")).items)
    await lab.resources.edit("IPPool", { namespace: "", name: String(metadata.name) }, (pool) =>
      pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, vxlanMode } },
    );
}

/** Whether routes are kept for sessions that are not up. */
async function isBridged(lab: Lab, at: NodeName): Promise<boolean> {
  await using netlink = openNetlink({ namespace: lab.world.node(at).netns });
  return (await netlink.routes({ family: "inet" })).some(({ protocol }) => protocol === bridgeProtocol);
}

async function everybodyReachesEverybody(lab: Lab): Promise<void> {
  const pinged = await lab.pingUntilWhole(60_000);
  const unanswered = pinged.filter((pair) => !isWhole(pair)).map(({ from, to }) => `${from.name} -> ${to.name}`);
  deepEqual(unanswered, []);
}

/** From each node's pod to the next one's; what is returned ends them, and says which have lost something. */
async function pingAround(t: TestContext, lab: Lab): Promise<() => Promise<string[]>> {
  const runs = await Promise.all(
    nodeNames.map(async (from, i) => {
      const to = nodeNames[(i + 1) % nodeNames.length] ?? first;
      const run = await pingOn(t, lab.pods.get(podOn(from)).place.netns, lab.pods.get(podOn(to)).address, 10);
      return { name: `${podOn(from)} -> ${podOn(to)}`, run };
    }),
  );
  return async () => {
    const outcomes = await Promise.all(runs.map(async ({ name, run }) => ({ name, ...(await run.stop()) })));
    ok(outcomes.every(({ sent }) => sent > 0));
    return outcomes.filter(({ lost }) => lost > 0).map(({ name, sent, lost }) => `${name}: ${lost} of ${sent} lost`);
  };
}

type Readiness = { readonly ready: boolean; readonly details: ReadonlyMap<string, string>; readonly body: string };

async function readiness(lab: Lab, name: NodeName): Promise<Readiness> {
  const words = ["-s", "-H", "Accept: application/json", "http://localhost:9099/readiness"];
  const { stdout } = await lab.world.node(name).run("curl", words, { alsoGood: [7, 28, 52, 56] });
  const read = stdout === "" ? undefined : parseJson(stdout);
  const components = isRecord(read) && Array.isArray(read.components) ? read.components.filter(isRecord) : [];
  const unready = components.filter(({ ready }) => ready !== "yes");
  return {
    ready: isRecord(read) && read.ready === true,
    details: new Map(unready.map((each) => [String(each.name), String(each.detail)])),
    body: stdout,
  };
}

/** Why a component is not ready; empty: it is. */
async function detailOf(lab: Lab, name: NodeName, component: string): Promise<string> {
  return (await readiness(lab, name)).details.get(component) ?? "";
}

async function allAreReady(lab: Lab): Promise<void> {
  for (const name of nodeNames) {
    let last = "";
    await eventually(
      async () => {
        const { ready, body } = await readiness(lab, name);
        last = body;
        return ready;
      },
      () => `${name} is ready; it says ${last}\n${logOf(lab, name)}`,
    );
  }
}

function logOf(lab: Lab, name: NodeName): string {
  return readFileSync(join(lab.options.folder, "logs", `${name}.log`), "utf8").slice(-5_000);
}

async function ours(lab: Lab, name: NodeName, words: readonly string[]) {
  const node = lab.world.node(name);
  const [program = "", ...args] = [...launcher().words, ...words];
  return await node.run(program, args, { env: lab.agentEnvironment(node) });
}

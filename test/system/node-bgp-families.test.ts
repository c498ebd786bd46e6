// IPv4 and IPv6 side by side: the pools of three nodes with BIRD go from BGP to VXLAN and back, and no ping of either family is lost.
// CATTAIL_TEST_ROUNDS: how often, instead of once.
import { deepEqual, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { holds, parseRange } from "../../src/base/lib/index.ts";
import { mainTable, openNetlink } from "../../src/base/linux/kernel.ts";
import { isOfBird } from "../../src/calico/routing/index.ts";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { isWhole } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";
import { pingOn } from "../kit/route-nodes/ping-process.ts";

const needed = ["bird", "nft", "unshare", "setpriv"].map(missingProgram);
const skip = noNamespaces || (needed.find((each) => each !== false) ?? false);
const rounds = Number(process.env.CATTAIL_TEST_ROUNDS ?? 1);
const pingEveryMs = 5;
/** BIRD looks at the kernel's routes every two seconds, and may change them then. */
const scanMs = 2_000;

type Way = "tunnel" | "BIRD" | "neither";

const steps: readonly (readonly [vxlanMode: "Always" | "Never", Way])[] = [
  ["Always", "tunnel"],
  ["Never", "BIRD"],
];

test("pools of both families go to VXLAN and back to BGP, and no ping is lost", {
  skip,
  timeout: 120_000 + rounds * 120_000,
}, async (t) => {
  const lab = await startLab(t);
  await allGo(lab, "BIRD");
  const pinged = await lab.pingUntilWhole(60_000);
  const unanswered = pinged.filter((pair) => !isWhole(pair)).map(({ from, to }) => `${from.name} -> ${to.name}`);
  deepEqual(unanswered, []);
  const losses: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [vxlanMode, way] of steps) {
      const lost = await pingAround(t, lab);
      for (const { name } of lab.pools) await lab.setPool(name, { vxlanMode });
      await allGo(lab, way);
      await sleep(scanMs + 500);
      losses.push(...(await lost()).map((loss) => `round ${round}, to ${way}, ${loss}`));
    }
  }
  deepEqual(losses, []);
});

async function startLab(t: TestContext): Promise<Lab> {
  // After a test that was killed, node-bgp-modes.test.ts sweeps up everything that begins like this.
  const folder = mkdtempSync(join(tmpdir(), `cattail-bgp-modes-${process.pid}-`));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["logs", "objects"]) mkdirSync(join(folder, name));
  const { inside } = await givenDatastore({}, folder);
  const options = { folder, nodes: 3, mode: "bgp" as const, isDualStack: true, ...inside, say: () => undefined };
  const lab = afterTest(t).use(await Lab.start(options, false));
  await Promise.all(lab.world.nodes.map(({ name }) => lab.addPod({ name: `pod-${name}`, node: name })));
  return lab;
}

async function allGo(lab: Lab, wanted: Way): Promise<void> {
  for (const { name } of lab.world.nodes) {
    let last: readonly Way[] = [];
    await eventually(
      async () => {
        last = await waysOf(lab, name);
        return last.every((way) => way === wanted);
      },
      () => `${name}: all go by ${wanted}; they go by ${last.join(", ")}`,
    );
  }
}

/** How the node reaches each pod of the others. */
async function waysOf(lab: Lab, at: string): Promise<readonly Way[]> {
  await using netlink = openNetlink({ namespace: lab.world.node(at).netns });
  const tunnels = await Promise.all(["vxlan.calico", "vxlan-v6.calico"].map((name) => netlink.link(name)));
  const routes = await netlink.routes({ table: mainTable });
  const others = lab.pods.all.filter(({ node }) => node !== at);
  return await Promise.all(
    others.flatMap(addressesOf).map(async (address) => {
      const { index } = await netlink.routeTo(address);
      if (tunnels.some((tunnel) => tunnel?.index === index)) return "tunnel";
      const pod = parseRange(address);
      const ways = routes.filter(({ destination }) => {
        const range = parseRange(destination);
        return range !== undefined && range.prefixLength > 0 && pod !== undefined && holds(range, pod);
      });
      return ways.length > 0 && ways.every(({ protocol }) => isOfBird(protocol)) ? "BIRD" : "neither";
    }),
  );
}

const addressesOf = ({ address, address6 }: Lab["pods"]["all"][number]): readonly string[] =>
  address6 === undefined ? [address] : [address, address6];

/** From each pod to both addresses of the next one; what is returned ends them, and says which have lost something. */
async function pingAround(t: TestContext, lab: Lab): Promise<() => Promise<string[]>> {
  const pods = lab.pods.all;
  const pairs = pods.flatMap((from, i) => addressesOf(pods[(i + 1) % pods.length] ?? from).map((to) => ({ from, to })));
  const runs = await Promise.all(
    pairs.map(async ({ from, to }) => ({
      name: `${from.name} -> ${to}`,
      run: await pingOn(t, from.place.netns, to, pingEveryMs),
    })),
  );
  return async () => {
    const outcomes = await Promise.all(runs.map(async ({ name, run }) => ({ name, ...(await run.stop()) })));
    ok(outcomes.length === 6 && outcomes.every(({ sent }) => sent > 0));
    return outcomes
      .filter(({ lost }) => lost > 0)
      .map(({ name, sent, lost, lostAtMs }) => `${name}: ${lost} of ${sent} lost, from ${lostAtMs[0]} ms on`);
  };
}

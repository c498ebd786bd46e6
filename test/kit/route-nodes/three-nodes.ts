// Three nodes, two of them in one network, each with a block and a pod in each family: the smallest cluster in which every mode differs.
import { ok } from "node:assert/strict";
import type { TestContext } from "node:test";
import { afterTest } from "../after-test.ts";
import { eventually } from "../eventually.ts";
import {
  blockPath,
  blockValue,
  endpointPath,
  endpointValue,
  nodePath,
  nodeValue,
  type PoolMode,
  poolPath,
  poolValue,
  TestCluster,
} from "./cluster.ts";
import { TestNetwork, type TestNode, type TestPod } from "./network.ts";
import { kernelRoutes, type RunningOptions, type RunningRoutes, runRoutes } from "./running.ts";

export const [pool, pool6] = ["10.99.0.0/16", "fd99::/48"];

export type NodeWithPod = { readonly node: TestNode; readonly pod: TestPod };

/** `one` and `two` in one network, `three` in another. */
export async function threeNodes(mode: PoolMode) {
  const network = new TestNetwork();
  const cluster = new TestCluster();
  setMode(cluster, mode);
  const nodes: NodeWithPod[] = [];
  for (const [i, name] of ["one", "two", "three"].entries()) {
    const node = await network.addNode(name, name === "three" ? 1 : 0);
    const pod = await network.addPod(node, [`10.99.${i}.5`, `fd99::${i}:5`]);
    cluster.change({
      [blockPath(`10.99.${i}.0/26`)]: blockValue(`10.99.${i}.0/26`, name, { 1: name, 5: name }),
      [blockPath(`fd99::${i}:0/122`)]: blockValue(`fd99::${i}:0/122`, name, { 1: name, 5: name }),
      [endpointPath(name, pod.name)]: endpointValue(pod.interfaceName, pod.addresses),
    });
    nodes.push({ node, pod });
    setNode(cluster, nodes.length - 1, node, mode !== "never");
  }
  const [one, two, three] = nodes;
  ok(one && two && three);
  return { network, cluster, nodes, one, two, three };
}

/** As allocate-tunnel-addrs does: with an address in its own block, or without. */
export function setNode(cluster: TestCluster, i: number, node: TestNode, hasTunnel: boolean): void {
  const [tunnel, tunnel6] = hasTunnel ? [`10.99.${i}.1`, `fd99::${i}:1`] : [undefined, undefined];
  cluster.change({ [nodePath(node.name)]: nodeValue({ ...node, tunnel, tunnel6 }) });
}

export function setMode(cluster: TestCluster, mode: PoolMode): void {
  cluster.change({ [poolPath(pool)]: poolValue(pool, mode), [poolPath(pool6)]: poolValue(pool6, mode) });
}

/** The part on each of them, until every one says that it is ready. */
export async function runAll(
  t: TestContext,
  nodes: readonly NodeWithPod[],
  cluster: TestCluster,
  options: RunningOptions = {},
): Promise<RunningRoutes[]> {
  const running = nodes.map(({ node }) => afterTest(t).use(runRoutes(node, cluster, options)));
  await allReady(running);
  return running;
}

export async function allReady(running: readonly RunningRoutes[]): Promise<void> {
  await eventually(
    () => running.every((each) => each.health().ready),
    () => JSON.stringify(running.map((each) => each.health())),
  );
}

/** Waits until the node has a route that begins so (or none, with `isThere: false`), and says how long that took. */
export async function whenRoute(node: TestNode, start: string, isThere = true): Promise<number> {
  const beganMs = performance.now();
  let seen: string[] = [];
  await eventually(
    async () => {
      seen = await kernelRoutes(node.namespace);
      return seen.some((line) => line.startsWith(start)) === isThere;
    },
    () => `${start} ${isThere ? "never came" : "stayed"}: ${JSON.stringify(seen, null, 1)}`,
  );
  return performance.now() - beganMs;
}

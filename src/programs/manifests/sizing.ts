// How much CPU and memory a server asks for: from the size of the cluster, by the rule of docs/guide/sizing.md, which comes
// from measured servers. sizing.test.ts holds the rule to every measurement in bench/results.
import type { InstallOptions } from "./options.ts";

/** What one server has to carry. */
export type Load = {
  readonly keys: number;
  /** Four for a node: one for each data set. */
  readonly connections: number;
  readonly changesPerSecond: number;
};

/** The most that a server of this load was seen to hold, storms of connections included, in MB. */
export function memoryMb({ keys, connections }: Load): number {
  return 170 + 0.15 * connections + 0.002 * keys;
}

/** In thousandths of a core. A change is taken in once, and sent to the quarter of the connections that follow pods and policies. */
export function cpuMillis({ connections, changesPerSecond }: Load): number {
  return 50 + changesPerSecond * (0.1 + 0.008 * (connections / 4));
}

/** Of each server, by what Kubernetes allows: 110 pods to a node, a change on every node each ten seconds. */
export function loadOf({ nodes, replicas }: { nodes: number; replicas: number }): Load {
  return {
    keys: 120 * nodes,
    // As many as a server keeps before it sends some to the others (typha/server/connections/rebalancing.ts).
    connections: replicas === 1 ? 4 * nodes : 4 * (1 + Math.ceil((1.2 * nodes) / (replicas - 1))),
    changesPerSecond: nodes / 10,
  };
}

/**
 * A server that is killed in a storm makes the next storm: the limit is twice the most that was seen. CPU has none: a
 * server that is held back is late for everybody.
 */
export function resourcesOf({ nodes, replicas }: Pick<InstallOptions, "nodes" | "replicas">): unknown {
  const load = loadOf({ nodes: nodes ?? usualNodes, replicas });
  const memory = roundUp(memoryMb(load), 32);
  const requests = { cpu: `${roundUp(cpuMillis(load), 50)}m`, memory: `${memory}Mi` };
  return nodes === undefined ? { requests } : { requests, limits: { memory: `${2 * memory}Mi` } };
}

/** For the requests where nobody says how many there are. */
const usualNodes = 100;

function roundUp(value: number, step: number): number {
  return step * Math.ceil(value / step);
}

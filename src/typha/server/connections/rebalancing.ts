// Keeps the server's share of the cluster's clients fair: from the number of servers and nodes to the most connections
// it should hold. The arithmetic is fanout/governor.ts's; here it is done again every so often.

import type { Clock, Log } from "../../../base/lib/index.ts";
import { syncerTypes } from "../../../calico/model/index.ts";
import { connectionTarget, jittered } from "../../fanout/index.ts";

export type RebalancingOptions = {
  readonly intervalMs: number;
  readonly lowerLimit: number;
  readonly upperLimit: number;
  readonly serverCount: () => number | undefined;
  readonly nodeCount: () => number | undefined;
  readonly setMaxConnections: (max: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

export async function rebalance(options: RebalancingOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log, lowerLimit, upperLimit } = options;
  let last = upperLimit;
  for (;;) {
    await clock.sleep(jittered(options.intervalMs, 0.1, random), signal).catch(() => undefined); // aborted: see below
    if (signal.aborted) return;
    const typhas = options.serverCount();
    const nodes = options.nodeCount();
    const { max, reason } = connectionTarget({
      typhas,
      nodes,
      syncerTypes: syncerTypes.length,
      lowerLimit,
      upperLimit,
    });
    if (max === last) continue;
    last = max;
    log.info("Calculated new connection limit.", {
      newLimit: max,
      numNodes: nodes,
      numSyncerTypes: syncerTypes.length,
      numTyphas: typhas,
      reason,
    });
    options.setMaxConnections(max);
  }
}

/** One server carries a few hundred nodes with ease; a second one is for when the first is gone, a third for upgrades. */
export function recommendedReplicas(nodes: number): number {
  if (nodes <= 1) return 1;
  if (nodes <= 100) return 2;
  return Math.min(20, Math.max(3, Math.ceil(nodes / 200) + 1));
}

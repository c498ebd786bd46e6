// When a node audits next. Every node may run the background check, and the cluster is still read only once in each interval: with N
// nodes each waits N times as long, at a time of its own. After a failure it waits longer, and never less than a minute.

export type AuditPace = {
  /** How often the whole cluster is looked at. 0: never. */
  readonly everyMs: number;
  /** How many nodes there were at the last look; 1 before it. */
  readonly nodes: number;
  /** How many looks have failed, one after another. */
  readonly failures: number;
  /** At least 0, below 1. */
  readonly random: number;
};

const shortestMs = 60_000;
const mostDoublings = 6;

/** Between half and one and a half of a node's share, so that nodes that started together drift apart. Undefined: it is off. */
export function delayBeforeAudit({ everyMs, nodes, failures, random }: AuditPace): number | undefined {
  if (everyMs <= 0) return undefined;
  const shareMs = everyMs * Math.max(1, nodes) * 2 ** Math.min(failures, mostDoublings);
  return Math.max(shortestMs, shareMs * (0.5 + random));
}

/** Two looks this far apart show what has stayed the same; a node whose own next look is far away takes them one after the other. */
export function delayBeforeSecondLook(patienceMs: number): number {
  return Math.max(shortestMs, patienceMs);
}

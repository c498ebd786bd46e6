// How many connections this server should have, whom to ask to leave, and how fast. Pure arithmetic; server/ keeps the
// clock and carries it out.
import { shuffled } from "../../base/lib/index.ts";
import type { SyncerType } from "../../calico/model/basics.ts";

export type ConnectionTarget = {
  readonly max: number;
  readonly reason: "error" | "lone typha" | "lower limit" | "upper limit" | "configured fraction";
};

/** The fair share with a fifth to spare, counted as if one server were missing: the clients of one that dies fit in. */
export function connectionTarget(options: {
  /** Undefined: could not be found out. */
  typhas: number | undefined;
  nodes: number | undefined;
  syncerTypes: number;
  lowerLimit: number;
  upperLimit: number;
}): ConnectionTarget {
  const { typhas, nodes, syncerTypes, lowerLimit, upperLimit } = options;
  if (typhas === undefined || nodes === undefined) return { max: upperLimit, reason: "error" };
  if (typhas <= 1) return { max: upperLimit, reason: "lone typha" };
  const share = syncerTypes * (1 + Math.floor(Math.floor((nodes * 120) / (typhas - 1)) / 100));
  if (share > upperLimit) return { max: upperLimit, reason: "upper limit" };
  if (share < lowerLimit) return { max: Math.min(lowerLimit, upperLimit), reason: "lower limit" };
  return { max: share, reason: "configured fraction" };
}

export type Candidate = {
  readonly id: bigint;
  readonly node: string;
  readonly syncer: SyncerType | undefined;
  readonly connectedAtMs: number;
};

/**
 * The connections to end, in order, as many as asked for. First the elder of two connections of one node for one syncer,
 * which nobody misses; then whole nodes, so that a node moves with all its syncers and the types stay in proportion, as
 * long as one fits into what is left; then single connections.
 */
export function chooseToShed(candidates: readonly Candidate[], excess: number, random: () => number): bigint[] {
  const chosen: bigint[] = [];
  const rest: Candidate[] = [];
  const newestOf = new Map<string, Candidate>();
  for (const candidate of candidates) {
    if (candidate.node === "" || candidate.syncer === undefined) {
      rest.push(candidate);
      continue;
    }
    const key = `${candidate.syncer} ${candidate.node}`;
    const other = newestOf.get(key);
    if (other === undefined) newestOf.set(key, candidate);
    else {
      const isNewer = candidate.connectedAtMs >= other.connectedAtMs;
      chosen.push(isNewer ? other.id : candidate.id);
      if (isNewer) newestOf.set(key, candidate);
    }
  }
  const nodes = new Map<string, Candidate[]>();
  for (const candidate of newestOf.values()) {
    const known = nodes.get(candidate.node);
    if (known === undefined) nodes.set(candidate.node, [candidate]);
    else known.push(candidate);
  }
  for (const members of shuffled([...nodes.values()], random)) {
    if (chosen.length + members.length <= excess) chosen.push(...members.map(({ id }) => id));
    else rest.push(...members);
  }
  chosen.push(...shuffled(rest, random).map(({ id }) => id));
  return chosen.slice(0, Math.max(0, excess));
}

/** Time between two drops of a graceful shutdown: all are gone within the timeout, and never slower than the maximum. */
export function shutdownIntervalMs(options: { timeoutMs: number; connections: number; maxIntervalMs: number }): number {
  return Math.min((0.95 * options.timeoutMs) / options.connections, options.maxIntervalMs);
}

/** The delay of one tick: the interval and up to `share` of it more, drawn anew each time. */
export function jittered(intervalMs: number, share: number, random: () => number): number {
  return intervalMs * (1 + random() * share);
}

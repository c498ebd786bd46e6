// What policies make of pings: the data set that agents follow, read once, and the same evaluation that explain has.
import { CattailError, type Family, silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import {
  answer,
  noSources,
  originIn,
  parseSubject,
  policyText,
  ruleName,
  type Sources,
} from "../../../calico/explain/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import { type Cause, type Direction, PolicyData } from "../../../calico/policy/index.ts";
import { readRuleOrigins, runSyncers } from "../../../calico/syncer/index.ts";
import type { PingVerdict } from "../facts.ts";
import { clusterOf, familyOf, type WholeCluster } from "../families.ts";
import { nodeNamed, poolOf, wayBetween } from "../networks.ts";

/** What policies say, and which rule of an object each rule that nodes have comes from. */
export type PolicyFacts = { readonly data: PolicyData; readonly sources: Sources };

export async function readPolicyData(datastore: Datastore, signal: AbortSignal): Promise<PolicyFacts> {
  const data = new PolicyData();
  const policies = new Map<string, string>();
  const syncers = runSyncers({ datastore, clock: systemClock, log: silentLog, random: Math.random, signal });
  for await (const { syncer, updates, status } of syncers) {
    if (syncer !== "felix") continue;
    for (const { path, value } of updates) {
      data.set(path, value);
      if (value !== undefined && data.policies.has(path)) policies.set(path, value);
    }
    if (status !== syncStatus.inSync) continue;
    return { data, sources: { ...noSources, originOf: originIn(await readRuleOrigins(datastore, policies, signal)) } };
  }
  throw signal.reason;
}

/** How explain is asked about a node, or a pod: one of no Kubernetes by its address. */
export function subjectOf(name: string, family: Family, { pods }: WholeCluster): string {
  if (!name.includes("/")) return `node/${name}`;
  const pod = pods.find((each) => `${each.namespace}/${each.name}` === name);
  return pod?.link === undefined ? name : (pod.addresses[family] ?? name);
}

/** By a tunnel a node's own packets go with the tunnel's address, which is one of a pool. Undefined: they go with the node's own. */
export function tunnelSource(
  { from, to, address }: { readonly from: string; readonly to: string; readonly address: string },
  whole: WholeCluster,
): string | undefined {
  const cluster = clusterOf(whole, familyOf(address) ?? 4);
  const [one, other] = [nodeNamed(from, cluster), nodeNamed(to, cluster)];
  const pool = poolOf(address, cluster.pools);
  if (one === undefined || other === undefined || pool === undefined || from === to) return undefined;
  return wayBetween(one, other, pool) === "plain" ? undefined : one.tunnelAddress;
}

export type AskedEnds = {
  readonly from: string;
  readonly to: string;
  readonly family: Family;
  /** Another address that its packets come with. */
  readonly source?: string | undefined;
};

/** Ends are NAMESPACE/POD, node/NAME or addresses. Undefined: the data has no such end. */
export function pingVerdict(
  { from, to, family, source }: AskedEnds,
  facts: PolicyFacts,
): Omit<PingVerdict, "from" | "to"> | undefined {
  const asked = [from, ...(source === undefined ? [] : [source])];
  const found = asked.flatMap((each) => verdictOf({ from: each, to, family }, facts) ?? []);
  return found.find(({ verdict }) => verdict === "deny") ?? found[0];
}

function verdictOf(
  { from, to, family }: AskedEnds,
  { data, sources }: PolicyFacts,
): Omit<PingVerdict, "from" | "to"> | undefined {
  try {
    const [source, destination] = [parseSubject(from, "default"), parseSubject(to, "default")];
    const answered = answer({ source, destination, protocol: "icmp", port: undefined, family }, data);
    const { verdict } = answered;
    if (verdict === undefined || verdict.verdict === "allow") return verdict && { family, verdict: "allow" };
    const { decisive } = verdict;
    const cause = decisive?.answer?.cause;
    if (decisive === undefined || cause === undefined)
      return { family, verdict: "deny", by: decisive?.reason ?? "a policy" };
    const endpoint = decisive.endpoint?.is === "host" ? decisive.endpoint.id : undefined;
    return {
      family,
      verdict: "deny",
      by: causeText(cause, { direction: decisive.direction, endpoint, originOf: sources.originOf }),
    };
  } catch (error) {
    if (error instanceof CattailError) return undefined;
    throw error;
  }
}

type Decided = {
  readonly direction: Direction;
  /** Of a host endpoint: its name. */
  readonly endpoint: string | undefined;
  readonly originOf: Sources["originOf"];
};

function causeText(cause: Cause, { direction, endpoint, originOf }: Decided): string {
  switch (cause.is) {
    case "rule":
      return `${ruleName(cause.policy, { direction, number: cause.at.number }, originOf)} of ${policyText(cause.policy)}`;
    case "end of tier":
      return `the end of tier ${cause.tier.name}, because no rule of ${cause.policies.map(policyText).join(", ")} holds,`;
    default:
      return endpoint === undefined
        ? "the profile of its namespace or account"
        : `the host endpoint ${endpoint}, for which no policy or profile allows it,`;
  }
}

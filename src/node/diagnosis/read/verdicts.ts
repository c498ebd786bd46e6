// What policies make of pings: the data set that agents follow, read once, and the same evaluation that explain has.
import { CattailError, type Family, silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { answer, parseSubject } from "../../../calico/explain/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import { type Cause, type Policy, PolicyData } from "../../../calico/policy/index.ts";
import { runSyncers } from "../../../calico/syncer/index.ts";
import type { PingVerdict } from "../facts.ts";
import { clusterOf, familyOf, type WholeCluster } from "../families.ts";
import { nodeNamed, poolOf, wayBetween } from "../networks.ts";

export async function readPolicyData(datastore: Datastore, signal: AbortSignal): Promise<PolicyData> {
  const data = new PolicyData();
  const syncers = runSyncers({ datastore, clock: systemClock, log: silentLog, random: Math.random, signal });
  for await (const { syncer, updates, status } of syncers) {
    if (syncer !== "felix") continue;
    for (const { path, value } of updates) data.set(path, value);
    if (status === syncStatus.inSync) return data;
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
  data: PolicyData,
): Omit<PingVerdict, "from" | "to"> | undefined {
  const asked = [from, ...(source === undefined ? [] : [source])];
  const found = asked.flatMap((each) => verdictOf({ from: each, to, family }, data) ?? []);
  return found.find(({ verdict }) => verdict === "deny") ?? found[0];
}

function verdictOf({ from, to, family }: AskedEnds, data: PolicyData): Omit<PingVerdict, "from" | "to"> | undefined {
  try {
    const [source, destination] = [parseSubject(from, "default"), parseSubject(to, "default")];
    const answered = answer({ source, destination, protocol: "icmp", port: undefined, family }, data);
    const { verdict } = answered;
    if (verdict === undefined || verdict.verdict === "allow") return verdict && { family, verdict: "allow" };
    const { decisive } = verdict;
    const cause = decisive?.answer?.cause;
    return { family, verdict: "deny", by: cause === undefined ? (decisive?.reason ?? "a policy") : causeText(cause) };
  } catch (error) {
    if (error instanceof CattailError) return undefined;
    throw error;
  }
}

function causeText(cause: Cause): string {
  switch (cause.is) {
    case "rule":
      return `rule ${cause.at.number} of ${policyText(cause.policy)}`;
    case "end of tier":
      return `the end of tier ${cause.tier.name}, because no rule of ${cause.policies.map(policyText).join(", ")} holds,`;
    default:
      return "the profile of its namespace or account";
  }
}

function policyText({ kind, namespace, name }: Policy): string {
  const shown = kind === "KubernetesNetworkPolicy" ? "NetworkPolicy (Kubernetes)" : kind;
  return namespace === "" ? `${shown} ${name}` : `${shown} ${namespace}/${name}`;
}

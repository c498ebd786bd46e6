// What policies make of pings: the data set that agents follow, read once, and the same evaluation that explain has.
import { CattailError, type Family, silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { answer, parseSubject } from "../../../calico/explain/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import { type Cause, type Policy, PolicyData } from "../../../calico/policy/index.ts";
import { runSyncers } from "../../../calico/syncer/index.ts";
import type { PingVerdict } from "../facts.ts";

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

/** Ends are NAMESPACE/POD, node/NAME or addresses. Undefined: the data has no such end. */
export function pingVerdict(
  { from, to, family }: { readonly from: string; readonly to: string; readonly family: Family },
  data: PolicyData,
): Omit<PingVerdict, "from" | "to"> | undefined {
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

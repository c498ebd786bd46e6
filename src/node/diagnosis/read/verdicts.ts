// What policies make of pings: the data set that agents follow, read once, and the same evaluation that explain has.
import { CattailError, silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { answer, parseSubject, shownOf } from "../../../calico/explain/index.ts";
import { syncStatus } from "../../../calico/model/index.ts";
import { PolicyData } from "../../../calico/policy/index.ts";
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
export function pingVerdict(from: string, to: string, data: PolicyData): Omit<PingVerdict, "from" | "to"> | undefined {
  try {
    const [source, destination] = [parseSubject(from, "default"), parseSubject(to, "default")];
    const answered = answer({ source, destination, protocol: "icmp", port: undefined, family: 4 }, data);
    const [shown] = shownOf(answered, { fileOf: () => undefined }).answers;
    if (shown === undefined) return undefined;
    if (shown.verdict === "allow") return { verdict: "allow" };
    const denied = shown.stages.find(({ outcome }) => outcome === "denied");
    return { verdict: "deny", by: `${denied?.where ?? "a policy"}: ${denied?.lines.at(-1) ?? "denied"}` };
  } catch (error) {
    if (error instanceof CattailError) return undefined;
    throw error;
  }
}

// Where the rules of Kubernetes' policies come from: the objects beside what the felix data set says of them. For who shows a rule to
// the person that has written it.
import { ruleOrigins } from "../convert/index.ts";
import { DatastoreError, type Reader, type StoredObject } from "../datastore/index.ts";
import type { Kind } from "../kinds/index.ts";
import { keyToPath, type PolicyKind, type RuleOrigins } from "../model/index.ts";

/** The others' rules are counted as they were written. */
const kinds: readonly (readonly [PolicyKind, Kind])[] = [
  ["KubernetesNetworkPolicy", "KubernetesNetworkPolicy"],
  ["KubernetesClusterNetworkPolicy", "ClusterNetworkPolicy"],
  ["StagedKubernetesNetworkPolicy", "StagedKubernetesNetworkPolicy"],
];

/** By path; `sent` are the values of the felix data set. A kind without a policy among them is not asked for. */
export async function readRuleOrigins(
  reader: Reader,
  sent: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuleOrigins>> {
  const origins = new Map<string, RuleOrigins>();
  for (const [kind, stored] of kinds) {
    if (![...sent.keys()].some((path) => path.startsWith(`/calico/v1/policy/${kind}/`))) continue;
    try {
      for await (const { items } of reader.list(stored, { signal }))
        for (const item of items) addOrigins(kind, item, sent, origins);
    } catch (error) {
      // Verdicts do not hang on it: rules that are not known as they were written are told as nodes count them.
      if (signal.aborted || !(error instanceof DatastoreError)) throw error;
    }
  }
  return origins;
}

function addOrigins(
  kind: PolicyKind,
  { id, value }: StoredObject,
  sent: ReadonlyMap<string, string>,
  origins: Map<string, RuleOrigins>,
): void {
  const path = keyToPath({ is: "Policy", kind, namespace: id.namespace, name: id.name });
  const text = path === undefined ? undefined : sent.get(path);
  const found = text === undefined ? undefined : ruleOrigins(kind, { id, value, sent: text });
  if (path !== undefined && found !== undefined) origins.set(path, found);
}

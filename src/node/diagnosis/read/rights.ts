// The rights that a role uses, asked for one by one, as the API server itself would decide it; and whether it accepts credentials at all.
import { messageOf, silentLog, systemClock } from "../../../base/lib/index.ts";
import {
  type Account,
  type Datastore,
  isDatastoreError,
  type KubernetesDatastore,
  openKubernetes,
} from "../../../calico/datastore/index.ts";
import { usesOf } from "../../../calico/kinds/index.ts";
import type { ClusterFacts } from "../facts.ts";

export type RightsOptions = { readonly signal: AbortSignal; readonly account?: Account | undefined };

/** Of a datastore that is no API server nobody has rights, and nobody lacks any. */
export async function missingRights(
  datastore: Datastore,
  role: "node" | "cni",
  { signal, account }: RightsOptions,
): Promise<ClusterFacts["unreadable"]> {
  if (!isApiServer(datastore)) return [];
  const uses = usesOf(role).filter(({ of }) => of === "object");
  const answers = await Promise.all(
    uses.map(async ({ kind, verb }) => {
      if (!(await datastore.isServed(kind, signal))) return [];
      const answer = await datastore.mayI(verb, kind, { signal, ...(account === undefined ? {} : { account }) });
      const why = `the role ${role} may not ${verb} ${kind}`;
      return answer.may ? [] : [{ what: `${verb} ${kind}`, why, rule: answer.missingRule }];
    }),
  );
  return answers.flat();
}

function isApiServer(datastore: Datastore): datastore is KubernetesDatastore {
  return "mayI" in datastore;
}

/** What the CNI plugin's own kubeconfig may, or why the API server refuses it. */
export async function pluginRights(
  kubeconfig: string,
  signal: AbortSignal,
): Promise<{ readonly missing: ClusterFacts["unreadable"]; readonly refused?: string }> {
  try {
    await using datastore = await openKubernetes({ kubeconfig }, { clock: systemClock, log: silentLog });
    return { missing: await missingRights(datastore, "cni", { signal }) };
  } catch (error) {
    signal.throwIfAborted();
    const isRefused = isDatastoreError(error) && error.code === "unauthorized";
    return { missing: [], ...(isRefused ? { refused: `the API server refuses it: ${messageOf(error)}` } : {}) };
  }
}

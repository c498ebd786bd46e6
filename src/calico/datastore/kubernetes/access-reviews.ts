// What the API server itself says about rights: who we are to it, and what we or an account may do. For the doctor, before a
// server or an agent starts.
import type { ApiClient } from "../../../base/kube/index.ts";
import { isKubeError } from "../../../base/kube/index.ts";
import { isRecord } from "../../../base/lib/index.ts";
import type { Served } from "./paths.ts";
import { translated } from "./read-object.ts";
import type { Verb } from "./refusals.ts";

export type Account = { readonly namespace: string; readonly name: string };

/** Who asks, as the server sees it. Without `user` the server is too old to tell (before 1.28). */
export type Asker = { readonly from: string; readonly user?: string; readonly groups: readonly string[] };

type Call = { readonly client: ApiClient; readonly signal: AbortSignal | undefined };

export async function whoAsks({ client, signal, from }: Call & { from: string }): Promise<Asker> {
  const apiVersion = "authentication.k8s.io/v1";
  const body = { apiVersion, kind: "SelfSubjectReview" };
  try {
    const answer = await client.json({ method: "POST", path: `/apis/${apiVersion}/selfsubjectreviews`, body, signal });
    const { username, groups } = recordIn(recordIn(answer, "status"), "userInfo");
    const names = Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [];
    return { from, groups: names, ...(typeof username === "string" ? { user: username } : {}) };
  } catch (error) {
    if (isKubeError(error, "not-found", "forbidden")) return { from, groups: [] };
    return translated(Promise.reject(error));
  }
}

/** Without an account: whoever asks. To ask about another takes the right to create subjectaccessreviews. */
export async function isAllowed(
  what: { readonly verb: Verb; readonly served: Served; readonly account?: Account | undefined },
  { client, signal }: Call,
): Promise<boolean> {
  const { verb, served, account } = what;
  const apiVersion = "authorization.k8s.io/v1";
  const kind = account === undefined ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const spec = {
    resourceAttributes: { verb, group: served.group, resource: served.plural },
    ...(account === undefined ? {} : userOf(account)),
  };
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
  const answer = await translated(client.json({ method: "POST", path, body: { apiVersion, kind, spec }, signal }));
  return recordIn(answer, "status").allowed === true;
}

/** As the API server names a service account that shows its token. */
function userOf({ namespace, name }: Account): { user: string; groups: string[] } {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

function recordIn(value: unknown, name: string): { readonly [field: string]: unknown } {
  const member = isRecord(value) ? value[name] : undefined;
  return isRecord(member) ? member : {};
}

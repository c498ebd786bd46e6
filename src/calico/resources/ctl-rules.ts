// What calicoctl refuses before it asks the datastore: objects that others look after. Programs of ours that are those
// others (a node that starts, a controller) write them through the same Resources, so the rules stand beside, not inside.
import type { ApiKind } from "./api-kinds.ts";
import { type Id, nameInMessages } from "./names.ts";
import { type ResourceError, unsupported } from "./resource-error.ts";

export type CtlVerb = "create" | "apply" | "replace" | "delete";

/** In the original's words. */
const operations = {
  create: "create or apply",
  apply: "apply or replace",
  replace: "apply or replace",
  delete: "delete",
};

/** Undefined: nothing is in the way. */
export function refusedByCtl(verb: CtlVerb, kind: ApiKind, id: Id): ResourceError | undefined {
  if (kind === "ClusterInformation") {
    if (verb === "apply") return unsupported("apply", kind, "resource is readonly");
    return unsupported(operations[verb], kind);
  }
  if (kind === "NetworkPolicy" && id.name.startsWith("knp.default.")) {
    const reason = "kubernetes network policies must be managed through the kubernetes API";
    return unsupported(operations[verb], nameInMessages(kind, id), reason, "change the policy with kubectl");
  }
  return undefined;
}

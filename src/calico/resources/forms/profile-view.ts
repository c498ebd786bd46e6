// Calico's Profile as a view of Kubernetes' namespaces and service accounts: kns.NAMESPACE, ksa.NAMESPACE.ACCOUNT; and the
// one that is always there, in every datastore. Read only. A profile's revision is a pair, of which the half that is not its
// own stays empty: "812/" or "/812".
import { defaultAllowProfile, sourceProfile } from "../../convert/views.ts";
import type { Id } from "../names.ts";
import { toV3, type V3Object } from "../v3-object.ts";

export { defaultAllowProfile };

const allowAll = { ingress: [{ action: "Allow" }], egress: [{ action: "Allow" }] };

export const defaultAllow: V3Object = toV3("Profile", {
  metadata: { name: defaultAllowProfile, resourceVersion: "1" },
  spec: allowAll,
});

/** Throws FieldError for what cannot be read. */
export function fromSource(
  kind: "Namespace" | "ServiceAccount",
  { id, value, revision }: { id: Id; value: unknown; revision: string },
): V3Object {
  const { name, uid, creationTimestamp, labels, allowsAll, ...of } = sourceProfile(kind, {
    id,
    version: revision,
    value,
  });
  return toV3("Profile", {
    metadata: { name, uid, resourceVersion: of.revision, creationTimestamp },
    spec: { ...(allowsAll ? allowAll : {}), labelsToApply: labels },
  });
}

/** What a profile is a view of; undefined: a name that no profile can have. */
export function sourceOf(name: string): { kind: "Namespace" | "ServiceAccount"; id: Id } | undefined {
  if (name.startsWith("kns.")) return { kind: "Namespace", id: { namespace: "", name: name.slice(4) } };
  const [, namespace, account] = /^ksa\.([^.]+)\.(.+)$/.exec(name) ?? [];
  if (namespace === undefined || account === undefined) return undefined;
  return { kind: "ServiceAccount", id: { namespace, name: account } };
}

// Which of our kinds a manifest is of, by its apiVersion and kind. Most manifests in a folder may be none of them
// (Deployments, Secrets, a kustomization): those are passed over.
import { type Kind, kindInfo, kindNames } from "../../kinds/index.ts";
import { apiVersionOf, calicoGroups, servedAt } from "../kubernetes/paths.ts";

export type Recognised =
  | { readonly is: "ours"; readonly kind: Kind }
  | { readonly is: "other" }
  /** Calico's, but it only exists in etcd: in a folder it would never be read, which its author should know. */
  | { readonly is: "etcd-only" };

const inKubernetes = kindNames.filter((kind) => kindInfo(kind).kubernetes !== undefined);
const inEtcdAlone: readonly string[] = ["Node", ...kindNames.filter((kind) => !inKubernetes.includes(kind))];

const byApiName: ReadonlyMap<string, Kind> = new Map(
  inKubernetes.flatMap((kind) =>
    calicoGroups.map((calicoGroup): [string, Kind] => {
      const served = servedAt(kind, calicoGroup);
      return [`${apiVersionOf(served)} ${served.kindName}`, kind];
    }),
  ),
);

export function recognise(apiVersion: string, kind: string): Recognised {
  const known = byApiName.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { is: "ours", kind: known };
  const isCalicos = calicoGroups.some((group) => apiVersion.startsWith(`${group}/`));
  return isCalicos && inEtcdAlone.includes(kind) ? { is: "etcd-only" } : { is: "other" };
}

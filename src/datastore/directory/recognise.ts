// Which of our kinds a manifest is of, by its apiVersion and kind. Most manifests in a folder may be none of them
// (Deployments, Secrets, a kustomization): those are passed over.
import { type Kind, kindInfo, kindNames } from "../../model/index.ts";

export type Recognised =
  | { readonly is: "ours"; readonly kind: Kind }
  | { readonly is: "other" }
  /** Calico's, but it only exists in etcd: in a folder it would never be read, which its author should know. */
  | { readonly is: "etcd-only" };

const calicoVersions = ["crd.projectcalico.org/v1", "projectcalico.org/v3"];

const byApiName: ReadonlyMap<string, Kind> = new Map(
  kindNames.flatMap((kind): [string, Kind][] => {
    const source = kindInfo(kind).kubernetes;
    if (source === undefined) return [];
    // The one kind whose name here is not its name there, because Calico has a NetworkPolicy too.
    const name = kind === "KubernetesNetworkPolicy" ? "NetworkPolicy" : kind;
    if (source.group === "calico") return calicoVersions.map((version) => [`${version} ${name}`, kind]);
    if (!("version" in source)) return [];
    return [[`${source.group === "" ? "" : `${source.group}/`}${source.version} ${name}`, kind]];
  }),
);

const etcdOnly: readonly string[] = ["Node", ...kindNames.filter((kind) => kindInfo(kind).kubernetes === undefined)];

export function recognise(apiVersion: string, kind: string): Recognised {
  const known = byApiName.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { is: "ours", kind: known };
  return calicoVersions.includes(apiVersion) && etcdOnly.includes(kind) ? { is: "etcd-only" } : { is: "other" };
}

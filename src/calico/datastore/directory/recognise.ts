// Which of our kinds a manifest is of, by its apiVersion and kind, and what a new manifest says. Most manifests in a folder may be none of them
// (Deployments, Secrets, a kustomization): those are passed over. A folder holds every kind: what Kubernetes holds, under its names there, and what
// only etcd holds beside it (Profile, WorkloadEndpoint, LiveMigration), under its names in projectcalico.org/v3.
import { type Kind, kindInfo, kindNames, storedKind } from "../../kinds/index.ts";
import { resourceKindInfo } from "../../model/index.ts";
import { apiVersionOf, type CalicoGroup, calicoGroups, type Served, servedAt } from "../kubernetes/paths.ts";

export type Recognised =
  | { readonly is: "ours"; readonly kind: Kind }
  | { readonly is: "other" }
  /** Calico's, but not in this version: it would never be read, which its author should know. */
  | { readonly is: "other-version"; readonly apiVersion: string };

const v3 = { group: "projectcalico.org", version: "v3" } as const;
const v3ApiVersion = `${v3.group}/${v3.version}`;

/** What a manifest of the kind says that it is. */
export function manifestType(given: Kind, calicoGroup: CalicoGroup): Served {
  const kind = storedKind(given, "kubernetes");
  const { kubernetes, namespaced } = kindInfo(kind);
  if (kubernetes !== undefined) return servedAt(kind, calicoGroup);
  const plural = resourceKindInfo(kind)?.plural ?? `${kind.toLowerCase()}s`;
  return { ...v3, plural, kindName: kind, namespaced };
}

const byApiName: ReadonlyMap<string, Kind> = new Map([
  // Calico's node is the same object as Kubernetes' node of that name: a folder has one or the other.
  [`${v3ApiVersion} Node`, "Node"],
  [`${v3ApiVersion} IPAMConfig`, "IPAMConfig"],
  ...kindNames.flatMap((kind) =>
    calicoGroups.map((calicoGroup): [string, Kind] => {
      const type = manifestType(kind, calicoGroup);
      return [`${apiVersionOf(type)} ${type.kindName}`, storedKind(kind, "kubernetes")];
    }),
  ),
]);

export function recognise(apiVersion: string, kind: string): Recognised {
  const known = byApiName.get(`${apiVersion} ${kind}`);
  if (known !== undefined) return { is: "ours", kind: known };
  const isCalicos = calicoGroups.some((group) => apiVersion.startsWith(`${group}/`));
  return isCalicos && byApiName.has(`${v3ApiVersion} ${kind}`)
    ? { is: "other-version", apiVersion: v3ApiVersion }
    : { is: "other" };
}

/** The name that the kind has in manifests of that version, whatever name it was given by. */
export function kindNameIn(apiVersion: string, kind: Kind): string {
  return manifestType(kind, apiVersion.startsWith("projectcalico.org/") ? "projectcalico.org" : "crd.projectcalico.org")
    .kindName;
}

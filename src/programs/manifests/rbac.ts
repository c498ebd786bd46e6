// The rights a server needs, derived from the table of kinds: what it follows it may list and watch, and the two kinds
// it sets up in an empty datastore it may create. Nothing is granted that the server does not use;
// test/system/manifests.test.ts removes each rule in turn and sees that it is missed.
import { followedKinds, type KindInfo, kindInfo } from "../../calico/kinds/index.ts";
import type { InstallOptions, Manifest } from "./options.ts";

export type PolicyRule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] };

/** The rules for following every kind, grouped as a person would write them. */
export function followRules(apiGroup: InstallOptions["apiGroup"]): PolicyRule[] {
  const byGroup = new Map<string, string[]>();
  for (const kind of followedKinds) {
    const source = sourceOf(kindInfo(kind), apiGroup);
    if (source !== undefined) byGroup.set(source.group, [...(byGroup.get(source.group) ?? []), source.plural]);
  }
  return [...byGroup].map(([group, plurals]) => ({
    apiGroups: [group],
    resources: plurals.sort(),
    verbs: ["list", "watch"],
  }));
}

/** What the server writes at start: the cluster's own record and the built-in tiers, where they are missing. */
export function initialiseRules(apiGroup: InstallOptions["apiGroup"]): PolicyRule[] {
  return [
    { apiGroups: [apiGroup], resources: ["clusterinformations"], verbs: ["get", "create", "update"] },
    { apiGroups: [apiGroup], resources: ["tiers"], verbs: ["get", "create"] },
  ];
}

export function rbacManifests(options: InstallOptions): Manifest[] {
  const metadata = { name: options.name, labels: { "k8s-app": options.name } };
  const account: Manifest = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { ...metadata, namespace: options.namespace },
    automountServiceAccountToken: true,
  };
  return [
    ...(options.serviceAccount === options.name ? [account] : []),
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata,
      rules: [...followRules(options.apiGroup), ...initialiseRules(options.apiGroup)],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: options.name },
      subjects: [{ kind: "ServiceAccount", name: options.serviceAccount, namespace: options.namespace }],
    },
  ];
}

function sourceOf(info: KindInfo, apiGroup: string): { group: string; plural: string } | undefined {
  const source = info.kubernetes;
  if (source === undefined) return undefined;
  return { group: source.group === "calico" ? apiGroup : source.group, plural: source.plural };
}

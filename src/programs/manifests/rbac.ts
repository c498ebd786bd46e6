// The rights a server needs, derived from the kinds: what it follows it may list and watch, and the two kinds
// it sets up in an empty datastore it may create. Nothing is granted that the server does not use;
// test/system/manifests.test.ts removes each rule in turn and sees that it is missed.
import { followRules, rulesFor } from "../../calico/kinds/index.ts";
import type { InstallOptions, Manifest } from "./options.ts";

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
      rules: [...followRules(options.apiGroup), ...rulesFor("typha", options.apiGroup)],
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

// Whom the CNI plugin is to the API server, and what it may do: what the kinds say that it uses, and nothing else. test/system/cni-rights.test.ts sees
// that it is enough, and that each right is used.
import { type CalicoGroup, rulesFor } from "../../calico/kinds/index.ts";
import type { Manifest } from "./options.ts";

/** As the installer and the agent ask for its token (src/node/cni-token). */
const name = "calico-cni-plugin";

export type CniOptions = {
  readonly namespace: string;
  readonly apiGroup: CalicoGroup;
  /** Of a client certificate, where the plugin has one instead of a token. */
  readonly user?: string | undefined;
};

export function cniManifests({ namespace, apiGroup, user }: CniOptions): Manifest[] {
  const metadata = { name, labels: { "k8s-app": "calico-node" } };
  const rbac = "rbac.authorization.k8s.io";
  const account: Manifest = { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...metadata, namespace } };
  const subject =
    user === undefined ? { kind: "ServiceAccount", name, namespace } : { kind: "User", name: user, apiGroup: rbac };
  return [
    ...(user === undefined ? [account] : []),
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata, rules: rulesFor("cni", apiGroup) },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [subject],
    },
  ];
}

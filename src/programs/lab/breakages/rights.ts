// Rights that are too narrow: the plugin of one node gets an account of its own, with the role of an older release, which lacks a kind that current
// programs read. Needs an API server that looks at rights.
import { rmSync } from "node:fs";
import { ApiClient, isKubeError, loadIdentity } from "../../../base/kube/index.ts";
import { type JsonRecord, silentLog, systemClock } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import { rulesFor } from "../../../calico/kinds/index.ts";
import { cniKubeconfig, requestToken } from "../../../node/cni-token/index.ts";
import type { Lab } from "../cluster/lab.ts";
import type { Breakage } from "./breakage.ts";
import { editPlugin, kubeconfig } from "./datastore.ts";
import { second } from "./network.ts";

const name = "lab-break-rights";
const namespace = "default";
const rbac = "rbac.authorization.k8s.io";
/** What the roles of the hard way did not have, and the plugin reads for every pod. */
const lacking = "ipreservations";

const objects: readonly { readonly path: string; readonly body: JsonRecord }[] = [
  {
    path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
  },
  {
    path: `/apis/${rbac}/v1/clusterroles`,
    body: { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, rules: narrowed() },
  },
  {
    path: `/apis/${rbac}/v1/clusterrolebindings`,
    body: {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  },
];

function narrowed(): JsonRecord[] {
  return rulesFor("cni", "crd.projectcalico.org").flatMap(({ apiGroups, resources, verbs }) => {
    const left = resources.filter((resource) => resource !== lacking);
    return left.length === 0 ? [] : [{ apiGroups, resources: left, verbs }];
  });
}

export const rightsBreakage: Breakage = {
  name: "rights",
  code: "NODE_RIGHTS_MISSING",
  says: "the CNI plugin's role is that of an older release, and lacks a right that it uses",
  datastores: ["kubernetes"],
  async make(lab) {
    using api = apiOf(lab);
    for (const { path, body } of objects) await api.json({ method: "POST", path, body });
    const { token } = await requestToken(api, { namespace, serviceAccount: name });
    const { server, tls } = await loadIdentity(settingsOf(lab));
    const node = lab.world.node(second);
    const text = cniKubeconfig({ server: server.href, token, ...(tls.ca === undefined ? {} : { ca: tls.ca }) });
    await replaceFile(node.path(kubeconfig), text, { mode: 0o600 });
    await editPlugin(node, (plugin) => ({ ...plugin, kubernetes: { kubeconfig } }));
  },
  async mend(lab) {
    const node = lab.world.node(second);
    await editPlugin(node, (plugin) => ({ ...plugin, kubernetes: { kubeconfig: settingsOf(lab).kubeconfig } }));
    rmSync(node.path(kubeconfig), { force: true });
    using api = apiOf(lab);
    for (const { path } of objects)
      await api.json({ method: "DELETE", path: `${path}/${name}` }).catch((error: unknown) => {
        if (!isKubeError(error, "not-found")) throw error;
      });
  },
};

function settingsOf({ options }: Lab): { readonly kubeconfig: string } {
  const { datastore } = options;
  return { kubeconfig: datastore.type === "kubernetes" ? (datastore.kubeconfig ?? "") : "" };
}

function apiOf(lab: Lab): ApiClient {
  return new ApiClient(settingsOf(lab), { clock: systemClock, log: silentLog });
}

// A kubeconfig that is a ServiceAccount. In a pod the token comes from a file below /var/run/secrets; here the same token
// comes by a kubeconfig.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, kubeconfigText } from "./cluster.ts";

export async function accountConfig(
  cluster: Cluster,
  account: { readonly name: string; readonly namespace: string },
): Promise<string> {
  const token = await cluster.makeToken(account.name, { namespace: account.namespace });
  const path = join(cluster.dir, `${account.namespace}-${account.name}.kubeconfig`);
  writeFileSync(path, kubeconfigText({ server: cluster.server, dir: cluster.dir, user: { token } }), { mode: 0o600 });
  return path;
}

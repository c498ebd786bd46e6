// What lies on a host for the CNI plugin: that the runtime takes its configuration, has its programs, and that its credentials are good.
import type { ClusterFacts, CniFacts, HostFacts } from "../facts.ts";
import { finding, type NodeFinding } from "../finding.ts";
import { missingRights } from "./cluster.ts";
import { tunnelOf } from "./neighbours.ts";

const dayMs = 86_400_000;

export function checkPlugin({ node, cni, links }: HostFacts, cluster: ClusterFacts, nowMs: number): NodeFinding[] {
  const { file, credentials, unsafeSocket, mtu } = cni;
  if (file === undefined)
    return [
      finding({
        code: "CNI_CONFIGURATION_MISSING",
        node,
        what: `/etc/cni/net.d on ${node} has no Calico configuration`,
      }),
    ];
  const found = [
    ...missingRights(cni.missingRights ?? [], node),
    ...checkFirst(node, { ...cni, file }),
    ...checkPrograms(node, { ...cni, file }),
  ];
  if (unsafeSocket !== undefined)
    found.push(finding({ code: "CNI_SOCKET_UNSAFE", node, what: `${unsafeSocket} on ${node}` }));
  if (credentials !== undefined) found.push(...checkCredentials(node, credentials, nowMs));
  const tunnel = tunnelOf(cluster.family, links);
  const isTunnelled = cluster.pools.some(({ vxlan, isDisabled }) => vxlan === "Always" && !isDisabled);
  if (tunnel !== undefined && isTunnelled && mtu !== undefined && mtu > tunnel.mtu)
    found.push(
      finding({
        code: "MTU_PODS",
        node,
        what: `${file} on ${node} gives pods an MTU of ${mtu}, and ${tunnel.name} takes ${tunnel.mtu}`,
      }),
    );
  return found;
}

type Configured = CniFacts & { readonly file: string };

function checkFirst(node: string, { file, before }: Configured): NodeFinding[] {
  if (before === undefined) return [];
  return [
    finding({
      code: "CNI_CONFIGURATION_OTHER",
      node,
      what: `${before.file} on ${node} (${before.type}) comes before ${file}`,
      evidence: ["ls /etc/cni/net.d"],
    }),
  ];
}

function checkPrograms(node: string, { file, missingPrograms = [], programFolders = [] }: Configured): NodeFinding[] {
  if (missingPrograms.length === 0) return [];
  const names = missingPrograms.join(", ");
  return [
    finding({
      code: "CNI_PLUGIN_MISSING",
      node,
      what: `${file} on ${node} asks for ${names}, and ${missingPrograms.length === 1 ? "it is" : "they are"} not in ${programFolders.join(" or ")}`,
      evidence: [`ls ${programFolders.join(" ")}`],
    }),
  ];
}

function checkCredentials(
  node: string,
  { file, expiresMs, of = "certificate", broken }: NonNullable<CniFacts["credentials"]>,
  nowMs: number,
): NodeFinding[] {
  const date = expiresMs === undefined ? "" : new Date(expiresMs).toISOString().slice(0, 16);
  if (broken !== undefined || (expiresMs !== undefined && expiresMs <= nowMs)) {
    const what = broken ?? `its ${of} expired at ${date}Z`;
    return [finding({ code: "CNI_CREDENTIALS_EXPIRED", node, what: `${file} on ${node}: ${what}` })];
  }
  if (expiresMs === undefined || of !== "certificate" || expiresMs - nowMs >= 30 * dayMs) return [];
  const what = `${file} on ${node}: its ${of} expires at ${date}Z`;
  return [finding({ code: "CNI_CREDENTIALS_EXPIRE_SOON", node, what })];
}

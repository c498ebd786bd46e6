// What is broken in the datastore, or in the files of a node.
import { readFileSync, rmSync } from "node:fs";
import { isRecord, type JsonRecord, parseJson, systemClock } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import { issueAuthority, issueCertificate } from "../../../base/security/index.ts";
import { openIpamObjects, type V3Object } from "../../../calico/resources/index.ts";
import type { Lab } from "../cluster/lab.ts";
import { labMark, pools, poolsAnnotation } from "../cluster/objects.ts";
import type { LabNode } from "../world/index.ts";
import type { Breakage } from "./breakage.ts";
import { second, third } from "./network.ts";

const policy = { namespace: "default", name: "lab-break-deny" };
const calicoPolicy = {
  apiVersion: "projectcalico.org/v3",
  kind: "NetworkPolicy",
  metadata: policy,
  spec: { selector: "all()", types: ["Ingress"] },
};
const stale = { node: "cka009", cidr: "10.244.63.192/26" };
const pending = { namespace: "default", name: "pending-in-pool-2" };
const overlapping = "lab-break-overlap";
export const kubeconfig = "/etc/cni/net.d/calico-kubeconfig";
const conflist = "/etc/cni/net.d/10-calico.conflist";
const otherConflist = "/etc/cni/net.d/05-other.conflist";

export const datastoreBreakages: readonly Breakage[] = [
  {
    name: "duplicate-address",
    code: "NODE_ADDRESS_DUPLICATE",
    says: "two nodes have the same address in the datastore, as after a restored backup",
    make: async (lab) => setAddress(lab, third, `${lab.world.node(second).address}/24`),
    mend: async (lab) => setAddress(lab, third, `${lab.world.node(third).address}/24`),
  },
  {
    name: "pool-disabled",
    code: "POOL_ASKED_IS_DISABLED",
    says: "a pod asks for a pool that is disabled",
    async make(lab) {
      await lab.setPool(pools[1].name, { disabled: true });
      await lab.datastore.create("Pod", pendingPod(pending, { [poolsAnnotation]: JSON.stringify([pools[1].name]) }));
    },
    async mend(lab) {
      await lab.datastore.delete("Pod", pending, { gracePeriodSeconds: 0 });
      await lab.setPool(pools[1].name, { disabled: false });
    },
    datastores: ["directory", "kubernetes"],
  },
  {
    name: "stale-block",
    code: "BLOCK_WITHOUT_NODE",
    says: "a node was deleted, and its block stayed",
    make: ({ datastore }) => addBlock(openIpamObjects(datastore), stale),
    mend: ({ datastore }) => removeBlock(openIpamObjects(datastore), stale),
  },
  {
    name: "policy",
    code: "POLICY_DENIES",
    says: "a NetworkPolicy selects all pods and allows nothing in",
    async make({ datastore, resources }) {
      // Without Kubernetes it is one of Calico's.
      if (datastore.flavour !== "kubernetes") return void (await resources.create("NetworkPolicy", calicoPolicy));
      await datastore.create("KubernetesNetworkPolicy", {
        apiVersion: "networking.k8s.io/v1",
        kind: "NetworkPolicy",
        metadata: policy,
        spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [] },
      });
    },
    mend: ({ datastore, resources }) =>
      datastore.flavour === "kubernetes"
        ? datastore.delete("KubernetesNetworkPolicy", policy)
        : resources.delete("NetworkPolicy", policy),
  },
  {
    name: "datastore-locked",
    code: "DATASTORE_LOCKED",
    says: "the datastore says that it is not ready, as after a migration that was not finished",
    make: (lab) => setReady(lab, false),
    mend: (lab) => setReady(lab, true),
  },
  {
    name: "cni-expired",
    code: "CNI_CREDENTIALS_EXPIRED",
    says: "the certificate in the CNI plugin's kubeconfig has expired",
    make: ({ world }) => makeExpired(world.node(second)),
    mend: (lab) => mendExpired(lab, lab.world.node(second)),
  },
  {
    name: "cni-other",
    code: "CNI_CONFIGURATION_OTHER",
    says: "the configuration of another CNI plugin comes before Calico's",
    make: ({ world }) =>
      replaceFile(
        world.node(second).path(otherConflist),
        JSON.stringify({ cniVersion: "1.0.0", name: "other", plugins: [{ type: "bridge" }] }),
        { mode: 0o644 },
      ),
    mend: async ({ world }) => rmSync(world.node(second).path(otherConflist), { force: true }),
  },
  {
    name: "bgp-no-peers",
    code: "BGP_NO_PEERS",
    says: "the mesh between the nodes was turned off before there are BGPPeers",
    modes: ["bgp"],
    make: (lab) => setMesh(lab, false),
    mend: (lab) => setMesh(lab, true),
  },
  {
    name: "overlap",
    code: "POOL_OVERLAP",
    says: "a pool contains the addresses of the nodes",
    make: (lab) => overlapPool(lab, { name: overlapping, cidr: "172.31.0.0/16" }),
    mend: ({ resources }) => resources.delete("IPPool", { namespace: "", name: overlapping }),
  },
];

export async function overlapPool({ resources }: Lab, { name, cidr }: { name: string; cidr: string }): Promise<void> {
  const blockSize = cidr.includes(":") ? 122 : 26;
  await resources.create("IPPool", {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name },
    spec: { cidr, blockSize, disabled: true, nodeSelector: "all()" },
  });
}

/** With the length of its network; of the family that it is of. */
export async function setAddress({ resources }: Lab, name: string, address: string): Promise<void> {
  const field = address.includes(":") ? "ipv6Address" : "ipv4Address";
  await resources.edit("Node", { namespace: "", name }, (node) => {
    if (node === undefined) return "nothing";
    const bgp = isRecord(node.spec.bgp) ? node.spec.bgp : {};
    return { ...node, spec: { ...node.spec, bgp: { ...bgp, [field]: address } } };
  });
}

async function setMesh({ resources }: Lab, nodeToNodeMeshEnabled: boolean): Promise<void> {
  await resources.apply("BGPConfiguration", {
    apiVersion: "projectcalico.org/v3",
    kind: "BGPConfiguration",
    metadata: { name: "default" },
    spec: { nodeToNodeMeshEnabled },
  });
}

async function setReady({ resources }: Lab, datastoreReady: boolean): Promise<void> {
  await resources.edit("ClusterInformation", { namespace: "", name: "default" }, (current): V3Object | "nothing" =>
    current === undefined ? "nothing" : { ...current, spec: { ...current.spec, datastoreReady } },
  );
}

/** As a kubelet leaves it when the plugin refuses: bound to a node, and without an address. */
export function pendingPod(name: { namespace: string; name: string }, annotations: JsonRecord): JsonRecord {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...name, labels: labMark, annotations },
    spec: { nodeName: third, serviceAccountName: "default", containers: [{ name: "pod", image: "lab" }] },
    status: { phase: "Pending" },
  };
}

type IpamObjects = ReturnType<typeof openIpamObjects>;
type OwnedBlock = { readonly node: string; readonly cidr: string };

export async function addBlock(ipam: IpamObjects, { node, cidr }: OwnedBlock): Promise<void> {
  await ipam.create(
    { kind: "BlockAffinity", type: "host", node, cidr },
    { cidr, node, state: "confirmed", type: "host", deleted: "false" },
  );
  const size = 64;
  await ipam.create(
    { kind: "IPAMBlock", cidr },
    {
      cidr,
      affinity: `host:${node}`,
      strictAffinity: false,
      allocations: Array.from({ length: size }, () => null),
      unallocated: Array.from({ length: size }, (_, i) => i),
      attributes: [],
      deleted: false,
    },
  );
}

export async function removeBlock(ipam: IpamObjects, { node, cidr }: OwnedBlock): Promise<void> {
  const refs = [
    { kind: "IPAMBlock", cidr },
    { kind: "BlockAffinity", type: "host", node, cidr },
  ] as const;
  for (const ref of refs) {
    const found = await ipam.get(ref);
    if (found !== undefined) await ipam.delete(ref, found.revision);
  }
}

const yearMs = 365 * 86_400_000;

/** A kubeconfig whose certificate was good for a day, a year ago. */
async function makeExpired(node: LabNode): Promise<void> {
  const nowMs = systemClock.wallMs() - yearMs;
  const authority = issueAuthority({ commonName: "kubernetes", nowMs });
  const names = { commonName: "calico-cni" };
  const { certificate, key } = pemOf(issueCertificate({ names, authority, role: "client", nowMs, days: 1 }));
  const user = { "client-certificate-data": certificate, "client-key-data": key };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "lab", cluster: { server: "https://127.0.0.1:6443" } }],
    users: [{ name: "calico-cni", user }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "calico-cni" } }],
    "current-context": "lab",
  };
  await replaceFile(node.path(kubeconfig), `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  await editPlugin(node, (plugin) => ({ ...plugin, kubernetes: { kubeconfig } }));
}

async function mendExpired({ options }: Lab, node: LabNode): Promise<void> {
  const { kubernetes } = options.told.plugin;
  await editPlugin(node, ({ kubernetes: _, ...plugin }) => ({
    ...plugin,
    ...(kubernetes === undefined ? {} : { kubernetes }),
  }));
  rmSync(node.path(kubeconfig), { force: true });
}

function pemOf({ certPem, keyPem }: { certPem: string; keyPem: string }) {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return { certificate: base64(certPem), key: base64(keyPem) };
}

export async function editPlugin(node: LabNode, change: (plugin: JsonRecord) => JsonRecord): Promise<void> {
  const file = node.path(conflist);
  const read = parseJson(readFileSync(file, "utf8"));
  const list = isRecord(read) ? read : {};
  const plugins = Array.isArray(list.plugins) ? list.plugins : [];
  const changed = { ...list, plugins: plugins.map((plugin) => (isRecord(plugin) ? change(plugin) : plugin)) };
  await replaceFile(file, `${JSON.stringify(changed, undefined, 2)}\n`, { mode: 0o644 });
}

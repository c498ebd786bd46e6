// The kinds of objects that any program reads or writes: where each is stored in either datastore, whether Typha follows
// it, and what it would cost to be without it. One table; the datastores, the syncers, the RBAC manifests and
// docs/reference/kinds.md are loops over it.
import { type CalicoKind, calicoKind, type Scope } from "./calico-kinds.ts";
import { resourceRoot } from "./resource-kinds.ts";

/** How objects look: as Kubernetes serves them, or as Calico stores them in etcd. */
export type Flavour = "kubernetes" | "etcdv3";

/** Where the Kubernetes API serves a kind. Calico's own kinds are served by whichever of its two groups is in use. */
type KubernetesSource = {
  readonly plural: string;
  /** The name in objects, where it is not ours. */
  readonly kind?: string;
} & (
  | { readonly group: string; readonly version: string }
  | {
      readonly group: "calico";
      /** What the kind is called in projectcalico.org/v3, where crd.projectcalico.org/v1 has another name for it. */
      readonly inNewGroup?: { readonly kind: string; readonly plural: string };
    }
);

export type KindInfo = {
  readonly namespaced: boolean;
  /** Absent: the kind does not exist in Kubernetes mode. */
  readonly kubernetes?: KubernetesSource;
  /** The prefix below which etcd holds the kind. Without it and without a key, the kind does not exist in etcd mode. */
  readonly etcdPrefix?: string;
  /** The one key that holds the only object of the kind, which is called "default". */
  readonly etcdKey?: string;
  /** Typha lists and watches it, because a syncer is fed by it. Other programs read and write the rest when they need to. */
  readonly followed: boolean;
  /**
   * "enforcement": a cluster whose data plane lacks it would let through, or drop, the wrong packets, so a server that
   * may not read it must not become ready. "optional": without it something is not shown or not offered.
   */
  readonly carries: "enforcement" | "optional";
  /** "custom-resource": a missing CRD is an empty list. "api": a missing API is looked for again every 30 minutes. */
  readonly whenMissing: "custom-resource" | "api";
};

type Carries = KindInfo["carries"];

/** Calico's own kinds: custom resources, or stored below their plural. */
function custom(kind: CalicoKind, carries: Carries): KindInfo {
  const { plural, namespaced } = calicoKind(kind);
  return {
    namespaced,
    kubernetes: { group: "calico", plural },
    etcdPrefix: `${resourceRoot}/${plural}/`,
    followed: true,
    carries,
    whenMissing: "custom-resource",
  };
}

/** Calico's own kinds that no client of a Typha is told of. */
function untold(kind: CalicoKind): KindInfo {
  return { ...custom(kind, "optional"), followed: false };
}

/** Kinds of Kubernetes or of those who extend it: GROUP/VERSION/PLURAL, without a group for the core's. */
function served(path: string, scope: Scope, carries: Carries): KindInfo {
  const [plural = "", version = "", group = ""] = path.split("/").reverse();
  return {
    namespaced: scope === "namespaced",
    kubernetes: { group, version, plural },
    followed: true,
    carries,
    whenMissing: "api",
  };
}

/** What Kubernetes has other kinds for, so that only etcd stores it. */
function stored(kind: CalicoKind, carries: Carries): KindInfo {
  const { plural, namespaced } = calicoKind(kind);
  return { namespaced, etcdPrefix: `${resourceRoot}/${plural}/`, followed: true, carries, whenMissing: "api" };
}

function without<K extends keyof KindInfo>(info: KindInfo, field: K): Omit<KindInfo, K> {
  const { [field]: _, ...rest } = info;
  return rest;
}

export const kinds = {
  ClusterInformation: custom("ClusterInformation", "enforcement"),
  FelixConfiguration: custom("FelixConfiguration", "enforcement"),
  GlobalNetworkPolicy: custom("GlobalNetworkPolicy", "enforcement"),
  StagedGlobalNetworkPolicy: custom("StagedGlobalNetworkPolicy", "optional"),
  GlobalNetworkSet: custom("GlobalNetworkSet", "enforcement"),
  IPPool: custom("IPPool", "enforcement"),
  NetworkPolicy: custom("NetworkPolicy", "enforcement"),
  StagedNetworkPolicy: custom("StagedNetworkPolicy", "optional"),
  StagedKubernetesNetworkPolicy: custom("StagedKubernetesNetworkPolicy", "optional"),
  NetworkSet: custom("NetworkSet", "enforcement"),
  Tier: custom("Tier", "enforcement"),
  HostEndpoint: custom("HostEndpoint", "enforcement"),
  BGPConfiguration: custom("BGPConfiguration", "enforcement"),
  BGPPeer: custom("BGPPeer", "enforcement"),
  BGPFilter: custom("BGPFilter", "enforcement"),
  CalicoNodeStatus: custom("CalicoNodeStatus", "optional"),
  IPAMBlock: { ...custom("IPAMBlock", "enforcement"), etcdPrefix: "/calico/ipam/v2/assignment/" },
  BlockAffinity: { ...custom("BlockAffinity", "enforcement"), etcdPrefix: "/calico/ipam/v2/host/" },
  Node: { ...served("v1/nodes", "cluster", "enforcement"), etcdPrefix: `${resourceRoot}/nodes/` },
  Pod: served("v1/pods", "namespaced", "enforcement"),
  Namespace: served("v1/namespaces", "cluster", "enforcement"),
  ServiceAccount: served("v1/serviceaccounts", "namespaced", "enforcement"),
  Service: served("v1/services", "namespaced", "enforcement"),
  EndpointSlice: served("discovery.k8s.io/v1/endpointslices", "namespaced", "optional"),
  KubernetesNetworkPolicy: {
    ...served("networking.k8s.io/v1/networkpolicies", "namespaced", "enforcement"),
    // Calico has a NetworkPolicy, too.
    kubernetes: { group: "networking.k8s.io", version: "v1", plural: "networkpolicies", kind: "NetworkPolicy" },
  },
  ClusterNetworkPolicy: served("policy.networking.k8s.io/v1alpha2/clusternetworkpolicies", "cluster", "enforcement"),
  VirtualMachineInstanceMigration: served("kubevirt.io/v1/virtualmachineinstancemigrations", "namespaced", "optional"),
  Profile: stored("Profile", "enforcement"),
  WorkloadEndpoint: stored("WorkloadEndpoint", "enforcement"),
  LiveMigration: stored("LiveMigration", "optional"),
  IPAMHandle: { ...untold("IPAMHandle"), etcdPrefix: "/calico/ipam/v2/handle/" },
  IPAMConfig: {
    ...without(untold("IPAMConfig"), "etcdPrefix"),
    etcdKey: "/calico/ipam/v2/config",
    kubernetes: {
      group: "calico",
      plural: "ipamconfigs",
      inNewGroup: { kind: "IPAMConfiguration", plural: "ipamconfigurations" },
    },
  },
  // In Kubernetes this is IPAMConfig by another name; in etcd the two do not know of each other.
  IPAMConfiguration: {
    ...without(untold("IPAMConfig"), "kubernetes"),
    etcdPrefix: `${resourceRoot}/ipamconfigurations/`,
  },
  IPReservation: untold("IPReservation"),
  KubeControllersConfiguration: untold("KubeControllersConfiguration"),
  Secret: { ...served("v1/secrets", "namespaced", "optional"), followed: false },
  ConfigMap: { ...served("v1/configmaps", "namespaced", "optional"), followed: false },
} as const satisfies { [name: string]: KindInfo };

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[]; // Object.keys loses the literal names of a const table

export const followedKinds: readonly Kind[] = kindNames.filter((kind) => kinds[kind].followed);

/** The table's row as the general type, for code that loops over kinds. */
export function kindInfo(kind: Kind): KindInfo {
  return kinds[kind];
}

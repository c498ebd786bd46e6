// The four syncers as one table: which kinds feed them, through which conversion, in either datastore. A kind is followed
// once, however many syncers want it.
import {
  createBgpConfigurationProcessor,
  createBgpFilterProcessor,
  createBgpPeerProcessor,
  createBlockAffinityProcessor,
  createCalicoNodeStatusProcessor,
  createClusterInformationProcessor,
  createClusterNetworkPolicyProcessor,
  createEitherNodeProcessor,
  createEndpointSliceProcessor,
  createEtcdNodeProcessor,
  createFelixConfigurationProcessor,
  createGlobalNetworkPolicyProcessor,
  createGlobalNetworkSetProcessor,
  createHostEndpointProcessor,
  createIpamBlockProcessor,
  createIpPoolProcessor,
  createKubernetesNetworkPolicyProcessor,
  createLiveMigrationProcessor,
  createNamespaceProcessor,
  createNetworkPolicyProcessor,
  createNetworkSetProcessor,
  createNodeProcessor,
  createPodProcessor,
  createProfileProcessor,
  createServiceAccountProcessor,
  createServiceProcessor,
  createStagedGlobalNetworkPolicyProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
  createStagedNetworkPolicyProcessor,
  createTierProcessor,
  createVirtualMachineMigrationProcessor,
  createWorkloadEndpointProcessor,
  defaultAllowKvs,
  type Processor,
  type ProcessorOutput,
} from "../convert/index.ts";
import type { Flavour, Kind } from "../kinds/index.ts";
import type { SyncerType } from "../model/index.ts";
import type { Layer } from "./stored-over-view.ts";

export type ConversionOptions = {
  readonly flavour: Flavour;
  /** USE_POD_CIDR: blocks and tunnel addresses come from the nodes' pod CIDRs, and IPAM is not looked at. */
  readonly usePodCidr: boolean;
  /** Objects of BGP that break a rule are passed on to a reader that takes what makes sense, instead of being left out. */
  readonly passesFaulty?: boolean;
  /** FELIX_INTERFACEPREFIX of this process; "" means the default. */
  readonly interfacePrefix: string;
};

/** One row of the table: a kind, how its objects become key/values, and which syncers get which of them. */
export type Feed = {
  readonly kind: Kind;
  createProcessor(options: ConversionOptions): Processor;
  /** What is there whatever the datastore holds; announced before the kind is in sync. */
  readonly constant?: ProcessorOutput["kvs"];
  readonly syncers: readonly FedSyncer[];
  /** Its keys may be those of other kinds: of all that share the name, stored objects win over views. */
  readonly shares?: { readonly name: string; readonly as: Layer };
};

export type FedSyncer = {
  readonly syncer: SyncerType;
  /** Absent: everything the kind yields. */
  readonly wants?: (path: string) => boolean;
};

/** A row, and where it holds. */
type Row = Feed & {
  readonly in: readonly Flavour[];
  /** With USE_POD_CIDR there is no IPAM to look at. */
  readonly isIpam?: true;
};

const row =
  (...flavours: Flavour[]) =>
  (kind: Kind, createProcessor: (options: ConversionOptions) => Processor, ...syncers: SyncerType[]): Row => ({
    kind,
    in: flavours,
    createProcessor,
    syncers: syncers.map((syncer) => ({ syncer })),
  });
const both = row("kubernetes", "etcdv3");
const kubernetes = row("kubernetes");
const etcd = row("etcdv3");

// Felix alone gets a node's tunnel addresses as settings of their own.
const isNodeItself = (path: string) => path.startsWith("/calico/resources/");
const nodeSyncers: readonly FedSyncer[] = [
  { syncer: "felix" },
  { syncer: "bgp", wants: isNodeItself },
  { syncer: "tunnel-ip-allocation", wants: isNodeItself },
];

const rows: readonly Row[] = [
  both("ClusterInformation", createClusterInformationProcessor, "felix"),
  both("FelixConfiguration", createFelixConfigurationProcessor, "felix"),
  both("GlobalNetworkPolicy", createGlobalNetworkPolicyProcessor, "felix"),
  both("StagedGlobalNetworkPolicy", createStagedGlobalNetworkPolicyProcessor, "felix"),
  both("NetworkPolicy", createNetworkPolicyProcessor, "felix"),
  both("StagedNetworkPolicy", createStagedNetworkPolicyProcessor, "felix"),
  both("StagedKubernetesNetworkPolicy", createStagedKubernetesNetworkPolicyProcessor, "felix"),
  both("GlobalNetworkSet", createGlobalNetworkSetProcessor, "felix"),
  both("NetworkSet", createNetworkSetProcessor, "felix"),
  both("Tier", createTierProcessor, "felix"),
  both("HostEndpoint", createHostEndpointProcessor, "felix"),
  both("IPPool", createIpPoolProcessor, "felix", "bgp", "tunnel-ip-allocation"),
  both("BGPConfiguration", createBgpConfigurationProcessor, "felix", "bgp"),
  both("BGPPeer", createBgpPeerProcessor, "felix", "bgp"),
  both("BGPFilter", createBgpFilterProcessor, "bgp"),
  both("CalicoNodeStatus", createCalicoNodeStatusProcessor, "node-status"),
  { ...both("IPAMBlock", createIpamBlockProcessor, "felix"), isIpam: true },
  { ...both("BlockAffinity", createBlockAffinityProcessor, "bgp"), isIpam: true },
  { ...kubernetes("Node", createNodeProcessor), syncers: nodeSyncers },
  { ...etcd("Node", createEtcdNodeProcessor), syncers: nodeSyncers },
  { ...kubernetes("Namespace", createNamespaceProcessor, "felix"), constant: defaultAllowKvs },
  kubernetes("ServiceAccount", createServiceAccountProcessor, "felix"),
  kubernetes("Pod", createPodProcessor, "felix"),
  kubernetes("KubernetesNetworkPolicy", createKubernetesNetworkPolicyProcessor, "felix"),
  kubernetes("ClusterNetworkPolicy", createClusterNetworkPolicyProcessor, "felix"),
  kubernetes("Service", createServiceProcessor, "felix"),
  kubernetes("EndpointSlice", createEndpointSliceProcessor, "felix"),
  kubernetes("VirtualMachineInstanceMigration", createVirtualMachineMigrationProcessor, "felix"),
  { ...etcd("Profile", createProfileProcessor, "felix"), constant: defaultAllowKvs },
  etcd("WorkloadEndpoint", createWorkloadEndpointProcessor, "felix"),
  etcd("LiveMigration", createLiveMigrationProcessor, "felix"),
];

/** Kinds of Kubernetes, and the kind of Calico's that each is a view of: a folder holds both. */
const views: { readonly [kind in Kind]?: Kind } = {
  Pod: "WorkloadEndpoint",
  Namespace: "Profile",
  ServiceAccount: "Profile",
  VirtualMachineInstanceMigration: "LiveMigration",
};

type FeedsOptions = {
  readonly flavour: Flavour;
  readonly usePodCidr: boolean;
  /** As the datastore says it. */
  readonly holdsEveryKind?: boolean | undefined;
};

/** USE_POD_CIDR is about Kubernetes' pod CIDRs: it means nothing where etcd is the datastore. */
export function feedsOf({ flavour, usePodCidr, holdsEveryKind = false }: FeedsOptions): readonly Feed[] {
  const hasIpam = flavour === "etcdv3" || !usePodCidr;
  const found = rows.filter((row) => row.in.includes(flavour) && (hasIpam || row.isIpam !== true));
  return holdsEveryKind && flavour === "kubernetes" ? [...found.map(ofFolder), ...storedBesideViews] : found;
}

/** Of these, what somebody reads; a kind that nobody reads is not among them. */
export function feedsRead(
  feeds: readonly Feed[],
  isRead: (syncer: SyncerType, kind: Kind) => boolean,
): readonly Feed[] {
  return feeds.flatMap((feed) => {
    const syncers = feed.syncers.filter(({ syncer }) => isRead(syncer, feed.kind));
    return syncers.length === 0 ? [] : [{ ...feed, syncers }];
  });
}

/** A folder's nodes are Kubernetes' or Calico's own, each as its file says. */
function ofFolder(feed: Feed): Feed {
  if (feed.kind === "Node") return { ...feed, createProcessor: createEitherNodeProcessor };
  const name = views[feed.kind];
  return name === undefined ? feed : { ...feed, shares: { name, as: "view" } };
}

const storedBesideViews: readonly Feed[] = rows
  .filter((row) => row.in.length === 1 && row.in.includes("etcdv3") && Object.values(views).includes(row.kind))
  .map((row) => ({ ...row, shares: { name: row.kind, as: "stored" } }));

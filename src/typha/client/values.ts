// The values behind the keys, as a server promises them: field names are those on the wire. These are types only; a
// server's JSON is parsed, not checked against them, so that a field of tomorrow is simply there.
import type {
  AllocationBlock,
  BgpConfigurationSpec,
  BgpFilterSpec,
  BgpPeerSpec,
  CalicoNodeStatusSpec,
  CalicoNodeStatusStatus,
  ClusterInformationSpec,
  EndpointSliceBody,
  FelixConfigurationSpec,
  LiveMigrationSpec,
  NodeSpec,
  NodeStatus,
  ProfileSpec,
  QosControls,
  ServiceSpec,
  ServiceStatus,
} from "../../calico/kinds/index.ts";
import type { Key, ObjectMeta, ResourceKey, ResourceKind, V1Policy, V1ProfileRules } from "../../calico/model/index.ts";

/** Labels or annotations, by name. */
export type LabelMap = { readonly [name: string]: string };

/** A named port of an endpoint. */
export type EndpointPortValue = {
  readonly name: string;
  readonly protocol: string | number;
  readonly port: number;
};

/** A pod's network interface. */
export type WorkloadEndpointValue = {
  readonly state: "active";
  /** Of the interface on the host. */
  readonly name: string;
  readonly mac: string | null;
  readonly profile_ids: readonly string[] | null;
  readonly ipv4_nets: readonly string[] | null;
  readonly ipv6_nets: readonly string[] | null;
  readonly ipv4_nat?: readonly { readonly int_ip: string; readonly ext_ip: string }[];
  readonly ipv6_nat?: readonly { readonly int_ip: string; readonly ext_ip: string }[];
  readonly labels: LabelMap | null;
  readonly ipv4_gateway?: string;
  readonly ipv6_gateway?: string;
  readonly ports?: readonly EndpointPortValue[];
  readonly generate_name?: string;
  readonly allow_spoofed_source_ips?: readonly string[];
  readonly annotations?: LabelMap;
  readonly qosControls?: Partial<QosControls>;
};

/** A network interface of a node. */
export type HostEndpointValue = {
  readonly name?: string;
  readonly expected_ipv4_addrs?: readonly string[];
  readonly expected_ipv6_addrs?: readonly string[];
  readonly labels: LabelMap | null;
  readonly profile_ids?: readonly string[];
  readonly ports?: readonly EndpointPortValue[];
  readonly qosControls?: Partial<QosControls>;
};

/** A named set of addresses. */
export type NetworkSetValue = {
  readonly nets?: readonly string[];
  readonly labels: LabelMap | null;
  readonly profile_ids?: readonly string[];
};

/** A range of addresses that pods get theirs from. */
export type IpPoolValue = {
  readonly cidr: string;
  readonly ipip: "tunl0" | "";
  readonly ipip_mode: "" | "always" | "cross-subnet";
  readonly vxlan_mode: "" | "always" | "cross-subnet";
  readonly masquerade: boolean;
  readonly ipam: boolean;
  readonly disabled: boolean;
  readonly disableBGPExport: boolean;
  readonly assignment_mode: string;
  readonly allowed_uses?: readonly string[];
};

/** A node's WireGuard addresses and public keys. */
export type WireguardValue = {
  readonly interfaceIPv4Addr?: string;
  readonly publicKey?: string;
  readonly interfaceIPv6Addr?: string;
  readonly publicKeyV6?: string;
};

/** An API object. Its resource version has been put back where the server took it out. */
export type ApiObject<Spec, Status = unknown> = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Partial<ObjectMeta>;
  readonly spec: Spec;
  readonly status?: Status;
};

type ValuesByKey = {
  readonly Ready: boolean;
  readonly GlobalConfig: string;
  readonly HostConfig: string;
  readonly GlobalBgpConfig: string;
  readonly NodeBgpConfig: string;
  readonly Wireguard: WireguardValue;
  readonly HostEndpoint: HostEndpointValue;
  readonly WorkloadEndpoint: WorkloadEndpointValue;
  readonly NetworkSet: NetworkSetValue;
  readonly Tier: { readonly order?: number; readonly defaultAction?: "Deny" | "Pass" };
  readonly ProfileRules: V1ProfileRules;
  readonly ProfileLabels: LabelMap;
  readonly Policy: V1Policy;
  readonly LegacyPolicy: V1Policy;
  readonly IpPool: IpPoolValue;
  readonly Block: AllocationBlock;
  readonly BlockAffinity: { readonly state: string; readonly deleted: boolean };
  readonly HostMetadata: unknown;
  readonly IpamHandle: unknown;
};

type ValuesByResource = {
  readonly Node: ApiObject<NodeSpec, NodeStatus>;
  readonly Profile: ApiObject<ProfileSpec>;
  readonly BGPConfiguration: ApiObject<BgpConfigurationSpec>;
  readonly BGPPeer: ApiObject<BgpPeerSpec>;
  readonly BGPFilter: ApiObject<BgpFilterSpec>;
  readonly CalicoNodeStatus: ApiObject<CalicoNodeStatusSpec, CalicoNodeStatusStatus>;
  readonly LiveMigration: ApiObject<LiveMigrationSpec>;
  readonly FelixConfiguration: ApiObject<FelixConfigurationSpec>;
  readonly ClusterInformation: ApiObject<ClusterInformationSpec>;
  readonly KubernetesService: ApiObject<ServiceSpec, ServiceStatus>;
  readonly KubernetesEndpointSlice: { readonly metadata: Partial<ObjectMeta> } & EndpointSliceBody;
};

type KeyEntry = {
  [Is in keyof ValuesByKey]: {
    readonly is: Is;
    readonly key: Extract<Key, { is: Is }>;
    readonly value: ValuesByKey[Is];
  };
}[keyof ValuesByKey];

type ResourceEntry = {
  [Kind in ResourceKind]: {
    readonly is: "Resource";
    readonly kind: Kind;
    readonly key: ResourceKey & { readonly kind: Kind };
    readonly value: Kind extends keyof ValuesByResource ? ValuesByResource[Kind] : ApiObject<unknown>;
  };
}[ResourceKind];

/** A key with its value: `is`, and for resources `kind`, tell which. */
export type Entry =
  | KeyEntry
  | ResourceEntry
  /** A key this version does not know, or a value that is not what its key promises: the text as it came, and why. */
  | { readonly is: "unknown"; readonly path: string; readonly value: string; readonly why: string };

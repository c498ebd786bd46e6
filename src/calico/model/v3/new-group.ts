// Calico's kinds as the group projectcalico.org/v3 defines them, where that is not how crd.projectcalico.org/v1 does: what
// the schemas of this folder say is the old group's. Clients write objects of either group by its own rules: a node's
// BlockAffinity with `deleted: false` is refused where a text is expected.
import type { CrdSchema } from "../schema.ts";
import type { V3KindName } from "./crds.ts";

export type CalicoGroup = "crd.projectcalico.org" | "projectcalico.org";

/** What `kubectl get` shows of an object. */
export type Column = readonly [name: string, path: string, type: "string" | "boolean" | "integer" | "number" | "date"];

export type Difference = {
  /** The kind's name, where it has another one. */
  readonly names?: { readonly kind: string; readonly plural: string };
  readonly shortNames?: readonly string[];
  readonly columns?: readonly Column[];
  /** Fields by which a list may be narrowed. */
  readonly selectable?: readonly string[];
  /** What is said of members of the spec besides. */
  readonly spec?: { readonly [member: string]: CrdSchema };
};

const atomic = { "x-kubernetes-list-type": "atomic" };
const age: Column = ["Age", ".metadata.creationTimestamp", "date"];
const policyColumns: readonly Column[] = [
  ["Tier", ".spec.tier", "string"],
  ["Order", ".spec.order", "number"],
];
const byTier = [".spec.tier"];

export const newGroupDifferences: { readonly [K in V3KindName]?: Difference } = {
  BGPConfiguration: { shortNames: ["bgpconfig", "bgpconfigs"] },
  BGPPeer: {
    columns: [
      ["Node Selector", ".spec.nodeSelector", "string"],
      ["Node", ".spec.node", "string"],
      ["Local ASN", ".spec.localASNumber", "string"],
      ["Peer Selector", ".spec.peerSelector", "string"],
      ["Peer IP", ".spec.peerIP", "string"],
      ["Peer ASN", ".spec.asNumber", "string"],
    ],
  },
  BlockAffinity: {
    shortNames: ["affinity", "affinities"],
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["Node", ".spec.node", "string"],
      ["Type", ".spec.type", "string"],
    ],
    spec: {
      cidr: { format: "cidr" },
      deleted: { type: "boolean", default: false },
      state: { enum: ["", "confirmed", "pending", "pendingDeletion"] },
    },
  },
  CalicoNodeStatus: {
    columns: [
      ["Node", ".spec.node", "string"],
      ["Classes", ".spec.classes", "string"],
    ],
  },
  ClusterInformation: {
    shortNames: ["clusterinfo", "clusterinfos"],
    columns: [
      ["Version", ".spec.calicoVersion", "string"],
      ["Ready", ".spec.datastoreReady", "boolean"],
      ["Types", ".spec.clusterType", "string"],
    ],
  },
  GlobalNetworkPolicy: { shortNames: ["gnp", "cgnp"], columns: [...policyColumns, age], selectable: byTier },
  GlobalNetworkSet: { shortNames: ["gns"], columns: [age] },
  HostEndpoint: {
    shortNames: ["hep", "heps"],
    columns: [
      ["Node", ".spec.node", "string"],
      ["Interface", ".spec.interfaceName", "string"],
    ],
  },
  IPAMBlock: {
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["Affinity", ".spec.affinity", "string"],
      ["ClaimTime", ".spec.affinityClaimTime", "date"],
    ],
    spec: {
      cidr: { format: "cidr" },
      affinity: { pattern: "^(host|virtual):[a-zA-Z0-9\\.\\-_]+$" },
      allocations: atomic,
      unallocated: atomic,
      attributes: atomic,
    },
  },
  IPAMConfig: {
    names: { kind: "IPAMConfiguration", plural: "ipamconfigurations" },
    shortNames: ["ipamconfig", "ipamconfigs"],
    columns: [
      ["StrictAffinity", ".spec.strictAffinity", "boolean"],
      ["MaxBlocksPerHost", ".spec.maxBlocksPerHost", "integer"],
      ["AutoAllocateBlocks", ".spec.autoAllocateBlocks", "boolean"],
    ],
    spec: {
      strictAffinity: { default: false },
      autoAllocateBlocks: { default: true },
      maxBlocksPerHost: { format: "int32", maximum: 1_000_000, default: 0 },
      ipCooldownSeconds: { format: "int32" },
    },
  },
  IPAMHandle: { columns: [["ID", ".spec.handleID", "string"]] },
  IPPool: {
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["VXLAN", ".spec.vxlanMode", "string"],
      ["IPIP", ".spec.ipipMode", "string"],
      ["NAT", ".spec.natOutgoing", "boolean"],
      ["Allocatable", ".status.conditions[?(@.type=='Allocatable')].status", "string"],
      age,
    ],
  },
  KubeControllersConfiguration: { shortNames: ["kcc", "kccs"] },
  NetworkPolicy: { shortNames: ["cnp", "caliconetworkpolicy"], columns: policyColumns, selectable: byTier },
  StagedGlobalNetworkPolicy: { shortNames: ["sgnp"], columns: policyColumns, selectable: byTier },
  StagedKubernetesNetworkPolicy: { shortNames: ["sknp"] },
  StagedNetworkPolicy: { shortNames: ["scnp", "snp"], columns: policyColumns, selectable: byTier },
  Tier: {
    columns: [
      ["Order", ".spec.order", "integer"],
      ["DefaultAction", ".spec.defaultAction", "string"],
      ["Status", ".status.conditions[?(@.type=='Ready')].reason", "string"],
    ],
  },
};

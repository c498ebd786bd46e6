// The custom resource definitions of Calico's kinds, made from their schemas. `cattail manifests` prints them; the tests
// install them in a real API server (test/system/crds.test.ts), where they must accept, refuse and default as Calico's do.
import { conditionsStatus } from "../kubernetes/conditions.ts";
import type { CrdSchema, Schema } from "../schema.ts";
import { bgpConfigurationSpec } from "./bgp-configuration.ts";
import { bgpFilterSpec } from "./bgp-filter.ts";
import { bgpPeerSpec } from "./bgp-peer.ts";
import { blockAffinitySpec } from "./block-affinity.ts";
import { calicoNodeStatusSpec, calicoNodeStatusStatus } from "./calico-node-status.ts";
import { clusterInformationSpec } from "./cluster-information.ts";
import { felixConfigurationRules, felixConfigurationSpec } from "./felix-configuration.ts";
import { globalNetworkPolicySpec } from "./global-network-policy.ts";
import { hostEndpointSpec } from "./host-endpoint.ts";
import { ipPoolSpec } from "./ip-pool.ts";
import { ipamBlockSpec } from "./ipam-block.ts";
import { ipamConfigSpec, ipamHandleSpec, ipReservationSpec } from "./ipam-others.ts";
import {
  kubeControllersConfigurationSpec,
  kubeControllersConfigurationStatus,
} from "./kube-controllers-configuration.ts";
import { networkPolicySpec } from "./network-policy.ts";
import { networkSetSpec } from "./network-set.ts";
import { stagedKubernetesNetworkPolicySpec } from "./staged-kubernetes-network-policy.ts";
import { stagedGlobalNetworkPolicySpec, stagedNetworkPolicySpec } from "./staged-policies.ts";
import { tierRules, tierSpec } from "./tier.ts";

export type V3Kind = {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly spec: Schema<unknown>;
  /** Written through its own subresource. */
  readonly status?: Schema<unknown>;
  /** Of the object as a whole. */
  readonly crd?: CrdSchema;
};

const cluster = (plural: string, spec: Schema<unknown>, rest: Partial<V3Kind> = {}): V3Kind => ({
  plural,
  namespaced: false,
  spec,
  ...rest,
});
const namespaced = (plural: string, spec: Schema<unknown>): V3Kind => ({ plural, namespaced: true, spec });

/** Every kind that Calico defines in a cluster, those included that no client is told of. */
export const v3Schemas = {
  BGPConfiguration: cluster("bgpconfigurations", bgpConfigurationSpec),
  BGPFilter: cluster("bgpfilters", bgpFilterSpec),
  BGPPeer: cluster("bgppeers", bgpPeerSpec),
  BlockAffinity: cluster("blockaffinities", blockAffinitySpec),
  CalicoNodeStatus: cluster("caliconodestatuses", calicoNodeStatusSpec, { status: calicoNodeStatusStatus }),
  ClusterInformation: cluster("clusterinformations", clusterInformationSpec),
  FelixConfiguration: cluster("felixconfigurations", felixConfigurationSpec, { crd: felixConfigurationRules }),
  GlobalNetworkPolicy: cluster("globalnetworkpolicies", globalNetworkPolicySpec),
  GlobalNetworkSet: cluster("globalnetworksets", networkSetSpec),
  HostEndpoint: cluster("hostendpoints", hostEndpointSpec),
  IPAMBlock: cluster("ipamblocks", ipamBlockSpec),
  IPAMConfig: cluster("ipamconfigs", ipamConfigSpec),
  IPAMHandle: cluster("ipamhandles", ipamHandleSpec),
  IPPool: cluster("ippools", ipPoolSpec, { status: conditionsStatus }),
  IPReservation: cluster("ipreservations", ipReservationSpec),
  KubeControllersConfiguration: cluster("kubecontrollersconfigurations", kubeControllersConfigurationSpec, {
    status: kubeControllersConfigurationStatus,
  }),
  NetworkPolicy: namespaced("networkpolicies", networkPolicySpec),
  NetworkSet: namespaced("networksets", networkSetSpec),
  StagedGlobalNetworkPolicy: cluster("stagedglobalnetworkpolicies", stagedGlobalNetworkPolicySpec),
  StagedKubernetesNetworkPolicy: namespaced("stagedkubernetesnetworkpolicies", stagedKubernetesNetworkPolicySpec),
  StagedNetworkPolicy: namespaced("stagednetworkpolicies", stagedNetworkPolicySpec),
  Tier: cluster("tiers", tierSpec, { status: conditionsStatus, crd: { ...tierRules, required: ["metadata", "spec"] } }),
} as const satisfies { readonly [kind: string]: V3Kind };

export type V3KindName = keyof typeof v3Schemas;
export const v3KindNames = Object.keys(v3Schemas) as V3KindName[]; // Object.keys loses the literal names

/** The OpenAPI schema of a whole object, as a CRD holds it. */
export function crdSchema(kind: V3KindName): CrdSchema {
  const { spec, status, crd }: V3Kind = v3Schemas[kind];
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: spec.crd,
    ...(status === undefined ? {} : { status: status.crd }),
  };
  return { type: "object", properties, ...crd };
}

type CrdGroup = { readonly group: string; readonly version: string };

/** The CustomResourceDefinition, ready to be applied. */
export function crdManifest(
  kind: V3KindName,
  { group, version }: CrdGroup = { group: "crd.projectcalico.org", version: "v1" },
): { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown } {
  const { plural, namespaced: isNamespaced, status }: V3Kind = v3Schemas[kind];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: isNamespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: crdSchema(kind) },
          ...(status === undefined ? {} : { subresources: { status: {} } }),
        },
      ],
    },
  };
}

// The custom resource definitions of Calico's kinds, made from their schemas. `cattail manifests` prints them; the tests
// install them in a real API server (test/system/crds.test.ts), where they must accept, refuse and default as Calico's do.
import { calicoKind } from "../calico-kinds.ts";
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
  readonly spec: Schema<unknown>;
  /** Written through its own subresource. */
  readonly status?: Schema<unknown>;
  /** Of the object as a whole. */
  readonly crd?: CrdSchema;
};

/** Every kind that Calico defines in a cluster, those included that no client is told of. */
export const v3Schemas = {
  BGPConfiguration: { spec: bgpConfigurationSpec },
  BGPFilter: { spec: bgpFilterSpec },
  BGPPeer: { spec: bgpPeerSpec },
  BlockAffinity: { spec: blockAffinitySpec },
  CalicoNodeStatus: { spec: calicoNodeStatusSpec, status: calicoNodeStatusStatus },
  ClusterInformation: { spec: clusterInformationSpec },
  FelixConfiguration: { spec: felixConfigurationSpec, crd: felixConfigurationRules },
  GlobalNetworkPolicy: { spec: globalNetworkPolicySpec },
  GlobalNetworkSet: { spec: networkSetSpec },
  HostEndpoint: { spec: hostEndpointSpec },
  IPAMBlock: { spec: ipamBlockSpec },
  IPAMConfig: { spec: ipamConfigSpec },
  IPAMHandle: { spec: ipamHandleSpec },
  IPPool: { spec: ipPoolSpec, status: conditionsStatus },
  IPReservation: { spec: ipReservationSpec },
  KubeControllersConfiguration: { spec: kubeControllersConfigurationSpec, status: kubeControllersConfigurationStatus },
  NetworkPolicy: { spec: networkPolicySpec },
  NetworkSet: { spec: networkSetSpec },
  StagedGlobalNetworkPolicy: { spec: stagedGlobalNetworkPolicySpec },
  StagedKubernetesNetworkPolicy: { spec: stagedKubernetesNetworkPolicySpec },
  StagedNetworkPolicy: { spec: stagedNetworkPolicySpec },
  Tier: { spec: tierSpec, status: conditionsStatus, crd: { ...tierRules, required: ["metadata", "spec"] } },
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
  const { status }: V3Kind = v3Schemas[kind];
  const { plural, namespaced } = calicoKind(kind);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      scope: namespaced ? "Namespaced" : "Cluster",
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

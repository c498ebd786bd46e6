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
import { type CalicoGroup, type Column, type Difference, newGroupDifferences } from "./new-group.ts";
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

/** What the group says of the kind that the old one does not. */
function differenceOf(kind: V3KindName, group: CalicoGroup): Difference {
  return (group === "projectcalico.org" ? newGroupDifferences[kind] : undefined) ?? {};
}

/** The OpenAPI schema of a whole object, as a CRD holds it. */
export function crdSchema(kind: V3KindName, group: CalicoGroup = "crd.projectcalico.org"): CrdSchema {
  const { spec, status, crd }: V3Kind = v3Schemas[kind];
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: withMembers(spec.crd, differenceOf(kind, group).spec ?? {}),
    ...(status === undefined ? {} : { status: status.crd }),
  };
  const required = group === "projectcalico.org" ? { required: ["metadata", "spec"] } : {};
  return { type: "object", properties, ...required, ...crd };
}

/** The schema of a struct with more said of some of its members. */
function withMembers(schema: CrdSchema, members: { readonly [name: string]: CrdSchema }): CrdSchema {
  const properties = { ...(schema.properties as { readonly [name: string]: CrdSchema }) }; // every spec is a struct
  for (const [name, more] of Object.entries(members)) properties[name] = { ...properties[name], ...more };
  return { ...schema, properties };
}

/** The CustomResourceDefinition, ready to be applied. */
export function crdManifest(
  name: V3KindName,
  group: CalicoGroup = "crd.projectcalico.org",
): { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown } {
  const { status }: V3Kind = v3Schemas[name];
  const { plural: usualPlural, namespaced } = calicoKind(name);
  const { names, shortNames, columns, selectable } = differenceOf(name, group);
  const { kind, plural } = names ?? { kind: name, plural: usualPlural };
  const singular = kind.toLowerCase();
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, ...(shortNames === undefined ? {} : { shortNames }) },
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: group === "projectcalico.org" ? "v3" : "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: crdSchema(name, group) },
          ...(status === undefined ? {} : { subresources: { status: {} } }),
          ...(columns === undefined ? {} : { additionalPrinterColumns: columns.map(column) }),
          ...(selectable === undefined ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
}

function column([name, jsonPath, type]: Column): object {
  return { name, jsonPath, type };
}

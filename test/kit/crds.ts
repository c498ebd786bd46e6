// Custom resource definitions for tests, made from the table of kinds: every field is kept, nothing is checked or
// defaulted. Tests that need Calico's own schemas install those of src/calico/model instead.
import { followedKinds, type Kind, kindInfo } from "../../src/calico/kinds/index.ts";
import type { Cluster } from "./cluster.ts";

/** The kinds that Calico itself defines and Typha follows. */
export const customKinds: readonly Kind[] = followedKinds.filter(
  (kind) => kindInfo(kind).kubernetes?.group === "calico",
);

/** The kinds whose definitions the hard-way guides' clusters have. */
export const hardWayKinds: readonly Kind[] = [
  "FelixConfiguration",
  "BGPPeer",
  "BGPConfiguration",
  "IPPool",
  "IPAMBlock",
  "GlobalNetworkPolicy",
  "GlobalNetworkSet",
  "NetworkPolicy",
  "NetworkSet",
  "ClusterInformation",
  "HostEndpoint",
  "BlockAffinity",
];

export type OpenCrd = {
  readonly group?: string;
  readonly version?: string;
  /** Its status is a subresource. */
  readonly hasStatus?: boolean;
};

export function openCrd(
  kind: Kind,
  { group = "crd.projectcalico.org", version = "v1", hasStatus = false }: OpenCrd = {},
): object {
  const { kubernetes, namespaced } = kindInfo(kind);
  const plural = kubernetes?.plural ?? "";
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        { name: version, served: true, storage: true, schema, ...(hasStatus ? { subresources: { status: {} } } : {}) },
      ],
    },
  };
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates the definitions and waits until the server serves their kinds, and says so to whoever asks what it serves. */
export async function installCrds(cluster: Cluster, crds: readonly object[]): Promise<void> {
  const made = await Promise.all(
    crds.map(async (crd) => {
      const { spec } = (await cluster.must("POST", definitions, crd)) as {
        spec: { group: string; names: { plural: string }; versions: { name: string }[] };
      };
      return { api: `/apis/${spec.group}/${spec.versions[0]?.name}`, plural: spec.names.plural };
    }),
  );
  for (const { api, plural } of made) {
    while ((await cluster.ask("GET", `${api}/${plural}?limit=1`)).status !== 200);
    while (!(await isNamed(cluster, api, plural)));
  }
}

/** Discovery is filled by another part of the API server, which may be later. */
async function isNamed(cluster: Cluster, api: string, plural: string): Promise<boolean> {
  const { status, body } = await cluster.ask("GET", api);
  if (status !== 200) return false;
  const { resources } = JSON.parse(body) as { resources: { name: string }[] }; // Kubernetes' APIResourceList
  return resources.some(({ name }) => name === plural);
}

export async function removeCrd(cluster: Cluster, name: string): Promise<void> {
  await cluster.must("DELETE", `${definitions}/${name}`);
  while ((await cluster.ask("GET", `${definitions}/${name}`)).status !== 404);
}

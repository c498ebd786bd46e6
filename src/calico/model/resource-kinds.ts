// The kinds that a ResourceKey may name, with the plural of their path. The plurals are the original's, odd ones
// included: "kubernetesservice" is singular.
import { type CalicoKind, calicoKinds, type Scope } from "./calico-kinds.ts";

type Named = Exclude<CalicoKind, "IPAMBlock" | "IPAMHandle">;
const { IPAMBlock: _block, IPAMHandle: _handle, ...named } = calicoKinds; // these two have keys of their own

const others = {
  Node: ["nodes", "cluster"],
  IPAMConfiguration: ["ipamconfigurations", "cluster"],
  KubernetesEndpointSlice: ["kubernetesendpointslices", "namespaced"],
  KubernetesService: ["kubernetesservice", "namespaced"],
  KubernetesNetworkPolicy: ["kubernetesnetworkpolicies", "namespaced"],
  KubernetesClusterNetworkPolicy: ["kubernetesclusternetworkpolicies", "cluster"],
} as const satisfies { readonly [kind: string]: readonly [plural: string, scope: Scope] };

export type ResourceKind = Named | keyof typeof others;
type ResourceKindInfo = {
  readonly kind: ResourceKind;
  readonly plural: string;
  readonly isNamespaced: boolean;
};

const infos: readonly ResourceKindInfo[] = Object.entries({ ...named, ...others }).map(([kind, [plural, scope]]) => ({
  kind: kind as ResourceKind, // Object.entries loses the literal names of a const table
  plural,
  isNamespaced: scope === "namespaced",
}));
const byKind = new Map<string, ResourceKindInfo>(infos.map((info) => [info.kind.toLowerCase(), info]));
const byPlural = new Map<string, ResourceKindInfo>(infos.map((info) => [info.plural, info]));

/** Below it the paths of all resources begin. */
export const resourceRoot = "/calico/resources/v3/projectcalico.org";

export const resourceKinds: readonly ResourceKind[] = infos.map(({ kind }) => kind);

/** The kind may be written in any case, as the original allows. */
export function resourceKindInfo(kind: string): ResourceKindInfo | undefined {
  return byKind.get(kind.toLowerCase());
}

export function resourceKindOfPlural(plural: string): ResourceKindInfo | undefined {
  return byPlural.get(plural);
}

/** What the paths of a kind's resources begin with. */
export function resourcePrefix(kind: ResourceKind): string {
  return `${resourceRoot}/${resourceKindInfo(kind)?.plural}/`;
}

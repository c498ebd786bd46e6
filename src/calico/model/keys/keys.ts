// Every key type, and its default path. The path is what the datastore, the cache and the wire know a key by.
// path-to-key.ts is the way back. Escaping follows the original, which escapes some parts and inserts others raw.
import { canonicalCidr } from "../../../base/lib/index.ts";
import { type ResourceKind, resourceKindInfo, resourceRoot } from "./resource-kinds.ts";

export const policyKinds = [
  "NetworkPolicy",
  "GlobalNetworkPolicy",
  "StagedNetworkPolicy",
  "StagedKubernetesNetworkPolicy",
  "StagedGlobalNetworkPolicy",
  "KubernetesNetworkPolicy",
  "KubernetesClusterNetworkPolicy",
] as const;
export type PolicyKind = (typeof policyKinds)[number];

export type PolicyKey = {
  readonly is: "Policy";
  /** One of policyKinds in what we send; the parser takes any text, as the original's does. */
  readonly kind: string;
  /** "" for the global kinds. */
  readonly namespace: string;
  readonly name: string;
};

/** The key of an API object that is served as it is: `kind` says which. */
export type ResourceKey = {
  readonly is: "Resource";
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
};

/** A key by its parts; `is` says of what. */
export type Key =
  | { readonly is: "Ready" }
  | { readonly is: "GlobalConfig"; readonly name: string }
  | { readonly is: "HostConfig"; readonly hostname: string; readonly name: string }
  | { readonly is: "Wireguard"; readonly nodeName: string }
  | { readonly is: "HostEndpoint"; readonly hostname: string; readonly endpointId: string }
  | {
      readonly is: "WorkloadEndpoint";
      readonly hostname: string;
      readonly orchestratorId: string;
      readonly workloadId: string;
      readonly endpointId: string;
    }
  /** The name is NAMESPACE/NAME for a namespaced set. */
  | { readonly is: "NetworkSet"; readonly name: string }
  | { readonly is: "Tier"; readonly name: string }
  | { readonly is: "ProfileRules"; readonly name: string }
  | { readonly is: "ProfileLabels"; readonly name: string }
  | PolicyKey
  /** A policy as servers up to v3.31 name it: the tier in the key, the kind hidden in the name (legacy-policy.ts). */
  | { readonly is: "LegacyPolicy"; readonly tier: string; readonly name: string }
  | { readonly is: "IpPool"; readonly cidr: string }
  | { readonly is: "Block"; readonly cidr: string }
  | { readonly is: "BlockAffinity"; readonly affinityType: string; readonly host: string; readonly cidr: string }
  | ResourceKey
  /** From here on: known to the original's parser, never sent. */
  | { readonly is: "HostMetadata"; readonly hostname: string }
  | { readonly is: "IpamHandle"; readonly handleId: string }
  | { readonly is: "GlobalBgpConfig"; readonly name: string }
  | { readonly is: "NodeBgpConfig"; readonly nodeName: string; readonly name: string };

export function escapeName(name: string): string {
  return name.includes("%") || name.includes("/") ? name.replaceAll("%", "%25").replaceAll("/", "%2f") : name;
}

export function unescapeName(name: string): string {
  return name.includes("%") ? name.replaceAll("%2f", "/").replaceAll("%25", "%") : name;
}

/** Undefined: a part that the path cannot do without is missing, so the original cannot say this key either. */
export function keyToPath(key: Key): string | undefined {
  switch (key.is) {
    case "Ready":
      return "/calico/v1/Ready";
    case "GlobalConfig":
      return path`/calico/v1/config/${key.name}`;
    case "HostConfig":
      return path`/calico/v1/host/${key.hostname}/config/${key.name}`;
    case "Wireguard":
      return path`/calico/v1/host/${key.nodeName}/wireguard`;
    case "HostEndpoint":
      return path`/calico/v1/host/${key.hostname}/endpoint/${escapeName(key.endpointId)}`;
    case "WorkloadEndpoint":
      return path`/calico/v1/host/${key.hostname}/workload/${escapeName(key.orchestratorId)}/${escapeName(key.workloadId)}/endpoint/${escapeName(key.endpointId)}`;
    case "NetworkSet":
      return path`/calico/v1/netset/${escapeName(key.name)}`;
    case "Tier":
      return path`/calico/v1/policy/tier/${key.name}/metadata`;
    case "ProfileRules":
      return path`/calico/v1/policy/profile/${escapeName(key.name)}/rules`;
    case "ProfileLabels":
      return path`/calico/v1/policy/profile/${escapeName(key.name)}/labels`;
    case "Policy":
      return policyPath(key);
    case "LegacyPolicy":
      return path`/calico/v1/policy/tier/${key.tier}/policy/${escapeName(key.name)}`;
    case "IpPool":
      return cidrPath(key.cidr, (version, cidr) => `/calico/v1/ipam/v${version}/pool/${cidr}`);
    case "Block":
      return cidrPath(key.cidr, (version, cidr) => `/calico/ipam/v2/assignment/ipv${version}/block/${cidr}`);
    case "BlockAffinity": {
      const { host, affinityType } = key;
      if (host === "") return undefined;
      const root = `/calico/ipam/v2/${affinityType === "" ? "host" : affinityType}/${host}`;
      return cidrPath(key.cidr, (version, cidr) => `${root}/ipv${version}/block/${cidr}`);
    }
    case "Resource":
      return resourcePath(key);
    case "HostMetadata":
      return path`/calico/v1/host/${key.hostname}/metadata`;
    case "IpamHandle":
      return path`/calico/ipam/v2/handle/${key.handleId}`;
    case "GlobalBgpConfig":
      return path`/calico/bgp/v1/global/${key.name}`;
    case "NodeBgpConfig":
      return path`/calico/bgp/v1/host/${key.nodeName}/${key.name}`;
  }
}

/** A template whose every part is mandatory. */
function path(texts: TemplateStringsArray, ...parts: string[]): string | undefined {
  let whole = texts[0] ?? "";
  for (let at = 0; at < parts.length; at++) {
    if (parts[at] === "") return undefined;
    whole += `${parts[at]}${texts[at + 1]}`;
  }
  return whole;
}

const kindsInNamespaces: readonly string[] = ["NetworkPolicy", "StagedNetworkPolicy", "StagedKubernetesNetworkPolicy"];

function policyPath({ kind, namespace, name }: PolicyKey): string | undefined {
  if (kind === "" || name === "" || (namespace === "" && kindsInNamespaces.includes(kind))) return undefined;
  return `/calico/v1/policy/${kind}/${namespace}/${name}`;
}

function resourcePath({ kind, namespace, name }: ResourceKey): string | undefined {
  const info = resourceKindInfo(kind);
  if (info === undefined) return undefined;
  const root = `${resourceRoot}/${info.plural}`;
  return info.isNamespaced ? `${root}/${namespace}/${name}` : `${root}/${name}`;
}

function cidrPath(text: string, write: (version: 4 | 6, cidr: string) => string): string | undefined {
  const network = canonicalCidr(text);
  return network === undefined ? undefined : write(network.version, network.text.replace("/", "-"));
}

// What kind of thing a key is about, in one word for people, by a look at its path. Unlike pathToKey it checks nothing and
// takes nothing apart, because it is asked for 100,000 paths at a time; key-kind.test.ts holds the two together.
import { resourceKindInfo, resourceKindOfPlural } from "./resource-kinds.ts";

const hosts = "/calico/v1/host/";
const policies = "/calico/v1/policy/";
const tiers = `${policies}tier/`;
const profiles = `${policies}profile/`;
const resources = "/calico/resources/v3/projectcalico.org/";

const plain: readonly (readonly [kind: string, prefix: string])[] = [
  ["GlobalConfig", "/calico/v1/config/"],
  ["NetworkSet", "/calico/v1/netset/"],
  ["IpPool", "/calico/v1/ipam/"],
  ["Ready", "/calico/v1/Ready"],
  ["Block", "/calico/ipam/v2/assignment/"],
  ["IpamHandle", "/calico/ipam/v2/handle/"],
  ["BlockAffinity", "/calico/ipam/v2/host/"],
  ["GlobalBgpConfig", "/calico/bgp/v1/global/"],
  ["NodeBgpConfig", "/calico/bgp/v1/host/"],
];

const underHost: readonly (readonly [kind: string, start: string])[] = [
  ["WorkloadEndpoint", "workload/"],
  ["HostConfig", "config/"],
  ["HostEndpoint", "endpoint/"],
  ["HostMetadata", "metadata"],
  ["Wireguard", "wireguard"],
];

/** A policy is of its own kind: NetworkPolicy, StagedGlobalNetworkPolicy, …; what is no key of Calico is "other". */
export function keyKind(path: string): string {
  if (path.startsWith(hosts)) {
    const at = path.indexOf("/", hosts.length) + 1;
    for (const [kind, start] of underHost) if (path.startsWith(start, at)) return kind;
    return "other";
  }
  if (path.startsWith(policies)) return policyKind(path);
  if (path.startsWith(resources)) return resourceKindOfPlural(partAt(path, resources.length))?.kind ?? "other";
  for (const [kind, prefix] of plain) if (path.startsWith(prefix)) return kind;
  return "other";
}

function policyKind(path: string): string {
  if (path.startsWith(tiers)) return path.endsWith("/metadata") ? "Tier" : "LegacyPolicy";
  if (path.startsWith(profiles)) return path.endsWith("/rules") ? "ProfileRules" : "ProfileLabels";
  return partAt(path, policies.length);
}

/** Where paths of the kind are, in order: prefixes under which to look. A kind may have its keys in more than one place. */
export function placesOfKeyKind(kind: string): string[] {
  if (kind === "" || kind === "other") return [""];
  const places = plain.filter(([name]) => name === kind).map(([, prefix]) => prefix);
  if (underHost.some(([name]) => name === kind)) places.push(hosts);
  if (kind === "Tier" || kind === "LegacyPolicy") places.push(tiers);
  if (kind === "ProfileRules" || kind === "ProfileLabels") places.push(profiles);
  places.push(`${policies}${kind}/`);
  const resource = resourceKindInfo(kind);
  if (resource !== undefined) places.push(`${resources}${resource.plural}/`);
  return places.sort();
}

function partAt(path: string, at: number): string {
  const end = path.indexOf("/", at);
  return end === -1 ? path.slice(at) : path.slice(at, end);
}

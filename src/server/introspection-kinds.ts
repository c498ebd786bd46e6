// What kind of thing a key is, by a look at its path. Unlike model's pathToKey it checks nothing and takes nothing apart,
// because it is asked for 100,000 paths at a time; introspection.test.ts holds the two together.
import { resourceKindOfPlural } from "../model/index.ts";

const underHost: readonly (readonly [string, string])[] = [
  ["workload/", "WorkloadEndpoint"],
  ["config/", "HostConfig"],
  ["endpoint/", "HostEndpoint"],
  ["metadata", "HostMetadata"],
  ["wireguard", "Wireguard"],
];

const prefixes: readonly (readonly [string, (rest: string) => string])[] = [
  ["/calico/v1/host/", (rest) => startOf(rest.slice(rest.indexOf("/") + 1), underHost)],
  ["/calico/v1/policy/tier/", (rest) => (rest.endsWith("/metadata") ? "Tier" : "LegacyPolicy")],
  ["/calico/v1/policy/profile/", (rest) => (rest.endsWith("/rules") ? "ProfileRules" : "ProfileLabels")],
  ["/calico/v1/policy/", firstPart],
  ["/calico/resources/v3/projectcalico.org/", (rest) => resourceKindOfPlural(firstPart(rest))?.kind ?? "other"],
  ["/calico/v1/config/", () => "GlobalConfig"],
  ["/calico/v1/netset/", () => "NetworkSet"],
  ["/calico/v1/ipam/", () => "IpPool"],
  ["/calico/ipam/v2/assignment/", () => "Block"],
  ["/calico/ipam/v2/handle/", () => "IpamHandle"],
  ["/calico/ipam/v2/host/", () => "BlockAffinity"],
  ["/calico/bgp/v1/global/", () => "GlobalBgpConfig"],
  ["/calico/bgp/v1/host/", () => "NodeBgpConfig"],
  ["/calico/v1/Ready", () => "Ready"],
];

/** A policy is of its own kind: NetworkPolicy, StagedGlobalNetworkPolicy, … */
export function kindOfPath(path: string): string {
  for (const [prefix, kind] of prefixes) if (path.startsWith(prefix)) return kind(path.slice(prefix.length));
  return "other";
}

function startOf(text: string, table: typeof underHost): string {
  for (const [start, kind] of table) if (text.startsWith(start)) return kind;
  return "other";
}

function firstPart(rest: string): string {
  const end = rest.indexOf("/");
  return end === -1 ? rest : rest.slice(0, end);
}

// Everything that policy depends on, as the felix data set has said it so far: key/values in, values by their keys out. A value
// that makes no sense is as good as absent, and is remembered with its reason.
import { type AddressRange, isRecord, parseRange } from "../../base/lib/index.ts";
import { type Key, keyToPath, type Labels, pathToKey } from "../model/index.ts";
import { VoidValue } from "./rule.ts";
import {
  type HostEndpoint,
  type NetworkSet,
  type Policy,
  type Profile,
  readHostEndpoint,
  readLabels,
  readNetworkSet,
  readPolicy,
  readProfile,
  readSlice,
  readTier,
  readWorkload,
  recordOf,
  type ServiceEndpoints,
  type Tier,
  type Workload,
} from "./values.ts";

export type Pool = {
  readonly net: AddressRange;
  readonly isMasqueraded: boolean;
  readonly isForPods: boolean;
  readonly usesVxlan: boolean;
  readonly usesIpip: boolean;
};

/** By path, but for what is asked for by name. */
export class PolicyData {
  readonly workloads = new Map<string, Workload>();
  readonly hostEndpoints = new Map<string, HostEndpoint>();
  readonly networkSets = new Map<string, NetworkSet>();
  readonly policies = new Map<string, Policy>();
  readonly slices = new Map<string, ServiceEndpoints>();
  readonly pools = new Map<string, Pool>();
  /** By name: */
  readonly tiers = new Map<string, Tier>();
  readonly profiles = new Map<string, Profile>();
  readonly profileLabels = new Map<string, Labels>();
  readonly nodeAddresses = new Map<string, readonly AddressRange[]>();
  /** Settings of all nodes, by name in lower case. */
  readonly settings = new Map<string, string>();
  /** Settings of one node: its name, a slash, the setting in lower case. */
  readonly nodeSettings = new Map<string, string>();
  /** Why a value is as good as absent, by path. */
  readonly voids = new Map<string, string>();

  /** Undefined takes the value away. Keys that policy does not depend on are passed over. */
  set(path: string, value: string | undefined): void {
    const key = pathToKey(path);
    if (key !== undefined) this.setKey(key, path, value);
  }

  /** As above, for who has read the path. */
  setKey(key: Key, path: string, value: string | undefined): void {
    this.#remove(key, path);
    this.voids.delete(path);
    if (value === undefined) return;
    try {
      this.#add(key, path, value);
    } catch (error) {
      if (!(error instanceof VoidValue)) throw error;
      this.voids.set(path, error.message);
    }
  }

  /** The same data, to be changed without changing this: for what would be if. */
  copy(): PolicyData {
    const copy = new PolicyData();
    for (const name of mapNames) {
      const into: Map<string, unknown> = copy[name];
      for (const [key, value] of this[name]) into.set(key, value);
    }
    return copy;
  }

  setting(node: string, name: string): string | undefined {
    return this.nodeSettings.get(`${node}/${name.toLowerCase()}`) ?? this.settings.get(name.toLowerCase());
  }

  #add(key: Key, path: string, value: string): void {
    switch (key.is) {
      case "WorkloadEndpoint":
        this.workloads.set(path, readWorkload(key, value));
        return;
      case "HostEndpoint":
        this.hostEndpoints.set(path, readHostEndpoint(key, value));
        return;
      case "NetworkSet":
        this.networkSets.set(path, readNetworkSet(key.name, value));
        return;
      case "Policy":
        this.policies.set(path, readPolicy(key, value));
        return;
      case "Tier":
        this.tiers.set(key.name, readTier(key.name, value));
        return;
      case "ProfileRules":
        this.profiles.set(key.name, readProfile(key.name, value));
        return;
      case "ProfileLabels":
        this.profileLabels.set(key.name, readLabels(value));
        return;
      case "GlobalConfig":
        this.settings.set(key.name.toLowerCase(), value);
        return;
      case "HostConfig":
        this.nodeSettings.set(`${key.hostname}/${key.name.toLowerCase()}`, value);
        return;
      case "IpPool":
        this.pools.set(path, readPool(key.cidr, value));
        return;
      case "Resource": {
        if (key.kind === "Node") this.nodeAddresses.set(key.name, nodeAddresses(value));
        const slice = key.kind === "KubernetesEndpointSlice" ? readSlice(key.namespace, value) : undefined;
        if (slice !== undefined) this.slices.set(path, slice);
      }
    }
  }

  #remove(key: Key, path: string): void {
    switch (key.is) {
      case "Tier":
        this.tiers.delete(key.name);
        return;
      case "ProfileRules":
        this.profiles.delete(key.name);
        return;
      case "ProfileLabels":
        this.profileLabels.delete(key.name);
        return;
      case "GlobalConfig":
        this.settings.delete(key.name.toLowerCase());
        return;
      case "HostConfig":
        this.nodeSettings.delete(`${key.hostname}/${key.name.toLowerCase()}`);
        return;
      case "Resource":
        if (key.kind === "Node") this.nodeAddresses.delete(key.name);
        this.slices.delete(path);
        return;
      default:
        for (const map of [this.workloads, this.hostEndpoints, this.networkSets, this.policies, this.pools])
          map.delete(path);
    }
  }
}

const mapNames = [
  "workloads",
  "hostEndpoints",
  "networkSets",
  "policies",
  "slices",
  "pools",
  "tiers",
  "profiles",
  "profileLabels",
  "nodeAddresses",
  "settings",
  "nodeSettings",
  "voids",
] as const;

export function pathOfWorkload({ host, orchestrator, workload, endpoint }: Workload): string {
  const key = {
    is: "WorkloadEndpoint",
    hostname: host,
    orchestratorId: orchestrator,
    workloadId: workload,
    endpointId: endpoint,
  } as const;
  return keyToPath(key) ?? "";
}

function readPool(cidr: string, text: string): Pool {
  const value = recordOf(text);
  const net = parseRange(cidr);
  if (net === undefined) throw new VoidValue("the pool cannot be read");
  const uses = value.allowed_uses;
  const isForPods = !Array.isArray(uses) || uses.length === 0 || uses.some((use) => use !== "LoadBalancer");
  const isUsed = (mode: unknown) => typeof mode === "string" && mode !== "" && mode.toLowerCase() !== "never";
  return {
    net,
    isMasqueraded: value.masquerade === true,
    isForPods,
    usesVxlan: isUsed(value.vxlan_mode),
    usesIpip: isUsed(value.ipip_mode),
  };
}

/** Of a Node object: what it says of BGP, without the prefix length, and its list of addresses. */
function nodeAddresses(text: string): readonly AddressRange[] {
  const value = recordOf(text);
  const spec = isRecord(value.spec) ? value.spec : {};
  const bgp = isRecord(spec.bgp) ? spec.bgp : {};
  const listed = Array.isArray(spec.addresses) ? spec.addresses : [];
  const texts = [
    bgp.ipv4Address,
    bgp.ipv6Address,
    ...listed.map((entry) => (isRecord(entry) ? entry.address : undefined)),
  ];
  const addresses = texts.flatMap((given) =>
    typeof given === "string" ? [parseRange(given.split("/")[0] ?? "")] : [],
  );
  return addresses.filter((address) => address !== undefined);
}

// What one node needs of the cluster's policies, kept up to date key by key: the sets, policies and profiles that its endpoints use,
// and for each endpoint its policies tier by tier. One update in, the smallest set of changes out. `Members`, `tiersFor` and `evaluate`
// compute the same from scratch; a test holds the two equal after random histories.
import { compareUtf8, type Key, pathToKey } from "../../model/index.ts";
import { comparePolicies } from "../order.ts";
import { PolicyData } from "../policy-data.ts";
import type { Rule } from "../rule.ts";
import type { SetSpec } from "../set-spec.ts";
import type { Direction, Endpoint, Policy, PolicyClass, Profile, Tier } from "../values.ts";
import { type Comparisons, LabelIndex } from "./label-index.ts";
import { type SetChanges, SetMembers } from "./set-members.ts";

/** A tier as one endpoint meets it: ids of its policies, in order. Tiers without any are left out. */
export type EndpointTier = {
  readonly tier: string;
  readonly defaultAction: Tier["defaultAction"];
  readonly policies: readonly {
    readonly id: string;
    readonly class: PolicyClass;
    readonly appliesOnForward: boolean;
    readonly directions: readonly Direction[];
  }[];
};

export type NodeEndpoint = { readonly endpoint: Endpoint; readonly tiers: readonly EndpointTier[] };

export type NodeChanges = {
  readonly sets: SetChanges;
  /** By path; undefined: not needed any more. */
  readonly policies: ReadonlyMap<string, Policy | undefined>;
  /** By name; undefined: not needed, or not known, which denies. */
  readonly profiles: ReadonlyMap<string, Profile | undefined>;
  readonly endpoints: ReadonlyMap<string, NodeEndpoint | undefined>;
};

export class NodePolicy {
  readonly #node: string;
  readonly #data = new PolicyData();
  readonly #sets = new SetMembers();
  readonly #selecting = new LabelIndex({
    started: (endpoint, policy) => this.#selects(endpoint, policy),
    stopped: (endpoint, policy) => this.#selects(endpoint, policy),
  });
  /** What was last handed out; compared with what is now. */
  readonly #given = {
    policies: new Map<string, Policy>(),
    profiles: new Map<string, Profile>(),
    endpoints: new Map<string, NodeEndpoint>(),
  };
  /** The rules whose sets are in use, by policy or profile. */
  readonly #inUse = new Map<string, readonly SetSpec[]>();
  readonly #dirty = { policies: new Set<string>(), profiles: new Set<string>(), endpoints: new Set<string>() };
  readonly #endpointsByProfile = new Map<string, Set<string>>();
  readonly #profilesOf = new Map<string, readonly string[]>();

  constructor(node: string) {
    this.#node = node;
  }

  /** Everything that was said so far, for whoever wants to look. */
  get data(): PolicyData {
    return this.#data;
  }

  update(path: string, value: string | undefined): void {
    const key = pathToKey(path);
    if (key === undefined) return;
    this.#data.setKey(key, path, value);
    this.#follow(key, path);
  }

  /** False: takeChanges() has nothing to say. */
  get mayHaveChanged(): boolean {
    const { policies, profiles, endpoints } = this.#dirty;
    return policies.size + profiles.size + endpoints.size > 0 || this.#sets.mayHaveChanged;
  }

  takeChanges(): NodeChanges {
    const policies = this.#changedPolicies();
    const endpoints = this.#changedEndpoints();
    const profiles = this.#changedProfiles();
    return { sets: this.#sets.takeChanges(), policies, profiles, endpoints };
  }

  /** Of what was handed out last. */
  get counts(): {
    readonly endpoints: number;
    readonly policies: number;
    readonly sets: number;
    readonly labelled: number;
  } {
    const { endpoints, policies } = this.#given;
    return { endpoints: endpoints.size, policies: policies.size, ...this.#sets.counts };
  }

  /** Of selectors of rules, since they were last asked for. */
  takeComparisons(): Comparisons {
    return this.#sets.takeComparisons();
  }

  setMembers(set: string): readonly string[] {
    return this.#sets.members(set);
  }

  #follow(key: Key, path: string): void {
    switch (key.is) {
      case "WorkloadEndpoint":
      case "HostEndpoint":
        this.#followEndpoint(path, key.hostname);
        return;
      case "NetworkSet":
        this.#sets.setLabelled(path, this.#data.networkSets.get(path));
        return;
      case "Policy":
        this.#followPolicy(path);
        return;
      case "Tier":
        for (const endpoint of this.#given.endpoints.keys()) this.#dirty.endpoints.add(endpoint);
        return;
      case "ProfileRules":
        this.#dirty.profiles.add(key.name);
        return;
      case "ProfileLabels": {
        const labels = this.#data.profileLabels.get(key.name);
        this.#sets.setProfileLabels(key.name, labels);
        this.#selecting.setProfileLabels(key.name, labels);
        return;
      }
      case "Resource":
        this.#sets.setSlice(path, this.#data.slices.get(path));
    }
  }

  #followEndpoint(path: string, host: string): void {
    const endpoint = this.#data.workloads.get(path) ?? this.#data.hostEndpoints.get(path);
    this.#sets.setLabelled(path, endpoint);
    if (host !== this.#node) return;
    this.#dirty.endpoints.add(path);
    this.#listProfiles(path, endpoint);
    if (endpoint === undefined) this.#selecting.removeItem(path);
    else this.#selecting.setItem(path, endpoint);
  }

  #listProfiles(path: string, endpoint: Endpoint | undefined): void {
    for (const profile of this.#profilesOf.get(path) ?? []) {
      const users = this.#endpointsByProfile.get(profile);
      this.#dirty.profiles.add(profile);
      if (users?.delete(path) === true && users.size === 0) this.#endpointsByProfile.delete(profile);
    }
    if (endpoint === undefined) this.#profilesOf.delete(path);
    else this.#profilesOf.set(path, endpoint.profileIds);
    for (const profile of endpoint?.profileIds ?? []) {
      const users = this.#endpointsByProfile.get(profile) ?? new Set();
      this.#endpointsByProfile.set(profile, users.add(path));
      this.#dirty.profiles.add(profile);
    }
  }

  #followPolicy(path: string): void {
    const policy = this.#data.policies.get(path);
    // Those that it selected, and those that it selects.
    for (const endpoint of this.#selecting.matching(path)) this.#dirty.endpoints.add(endpoint);
    this.#selecting.removeSelector(path);
    this.#dirty.policies.add(path);
    if (policy !== undefined && !policy.isStaged) this.#selecting.addSelector(path, policy.selector);
  }

  #selects(endpoint: string, policy: string): void {
    this.#dirty.endpoints.add(endpoint);
    this.#dirty.policies.add(policy);
  }

  #changedPolicies(): ReadonlyMap<string, Policy | undefined> {
    const changed = new Map<string, Policy | undefined>();
    for (const path of this.#dirty.policies) {
      const isActive = this.#selecting.matching(path).size > 0;
      const now = isActive ? this.#data.policies.get(path) : undefined;
      if (this.#hand(this.#given.policies, path, now)) changed.set(path, now);
      this.#useSets(path, now === undefined ? [] : [...now.rules.ingress, ...now.rules.egress]);
    }
    this.#dirty.policies.clear();
    return changed;
  }

  #changedProfiles(): ReadonlyMap<string, Profile | undefined> {
    const changed = new Map<string, Profile | undefined>();
    for (const name of this.#dirty.profiles) {
      const now = this.#endpointsByProfile.has(name) ? this.#data.profiles.get(name) : undefined;
      if (this.#hand(this.#given.profiles, name, now)) changed.set(name, now);
      this.#useSets(`profile ${name}`, now === undefined ? [] : [...now.rules.ingress, ...now.rules.egress]);
    }
    this.#dirty.profiles.clear();
    return changed;
  }

  #changedEndpoints(): ReadonlyMap<string, NodeEndpoint | undefined> {
    const changed = new Map<string, NodeEndpoint | undefined>();
    for (const path of this.#dirty.endpoints) {
      const endpoint = this.#data.workloads.get(path) ?? this.#data.hostEndpoints.get(path);
      const now = endpoint === undefined ? undefined : { endpoint, tiers: this.#tiersOf(path) };
      const before = this.#given.endpoints.get(path);
      if (before?.endpoint === now?.endpoint && JSON.stringify(before?.tiers) === JSON.stringify(now?.tiers)) continue;
      this.#hand(this.#given.endpoints, path, now);
      changed.set(path, now);
    }
    this.#dirty.endpoints.clear();
    return changed;
  }

  #hand<T>(given: Map<string, T>, key: string, now: T | undefined): boolean {
    if (given.get(key) === now) return false;
    if (now === undefined) given.delete(key);
    else given.set(key, now);
    return true;
  }

  #useSets(user: string, rules: readonly Rule[]): void {
    const now = rules.flatMap(setsOfRule);
    for (const set of now) this.#sets.use(set);
    for (const set of this.#inUse.get(user) ?? []) this.#sets.release(set);
    if (now.length === 0) this.#inUse.delete(user);
    else this.#inUse.set(user, now);
  }

  #tiersOf(endpoint: string): readonly EndpointTier[] {
    const byTier = new Map<string, { path: string; policy: Policy }[]>();
    for (const path of this.#selecting.selectorsOf(endpoint)) {
      const policy = this.#data.policies.get(path);
      if (policy === undefined) continue;
      const list = byTier.get(policy.tier) ?? [];
      byTier.set(policy.tier, list);
      list.push({ path, policy });
    }
    return [...byTier]
      .map(([name, list]) => this.#tierOf(name, list))
      .sort(compareTiers)
      .map(({ tier }) => tier);
  }

  #tierOf(name: string, list: readonly { readonly path: string; readonly policy: Policy }[]) {
    const known = this.#data.tiers.get(name);
    const policies = list
      .toSorted((a, b) => comparePolicies(a.policy, b.policy))
      .map(({ path, policy }) => ({
        id: path,
        class: policy.class,
        appliesOnForward: policy.appliesOnForward,
        directions: (["ingress", "egress"] as const).filter((direction) => policy.types[direction]),
      }));
    const tier: EndpointTier = { tier: name, defaultAction: known?.defaultAction ?? "deny", policies };
    return { tier, order: known?.order ?? Number.POSITIVE_INFINITY, isMissing: known === undefined };
  }
}

type Ranked = { readonly tier: EndpointTier; readonly order: number; readonly isMissing: boolean };

function compareTiers(a: Ranked, b: Ranked): number {
  if (a.isMissing !== b.isMissing) return a.isMissing ? 1 : -1;
  if (a.order !== b.order) return a.order - b.order;
  return compareUtf8(a.tier.tier, b.tier.tier);
}

export function setsOfRule({ source, destination }: Rule): readonly SetSpec[] {
  return [source, destination].flatMap((side) => [
    ...side.sets,
    ...side.notSets,
    ...side.namedPorts,
    ...side.notNamedPorts,
    ...(side.service === undefined ? [] : [side.service]),
  ]);
}

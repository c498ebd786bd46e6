// From what a node needs (calico/policy) to chains, sets and maps, kept up to date change by change.
//
//   forward   host-in ▸ from-workload (sender's egress) ▸ to-workload (receiver's ingress) ▸ host-out
//   input     from-workload ▸ to-host
//   output    from-host

import type { AddressRange } from "../../../base/lib/index.ts";
import { holds, parseRange, rangeText } from "../../../base/lib/index.ts";
import type {
  Direction,
  NodeChanges,
  NodeEndpoint,
  NodeSettings,
  Policy,
  Pool,
  Profile,
  Rule,
} from "../../../calico/policy/index.ts";
import { baseChains, hostMaps, workloadMaps } from "./base-chains.ts";
import { type ChainContext, hostChain, hostStages, type Marks, verdictsOf, workloadChain } from "./endpoint-chains.ts";
import { comment, endpointChain, isInterfaceName, policyChain, profileChain, setName, shortHash } from "./names.ts";
import { disjoint, halves, renderRule, setDeclaration, type Verdicts } from "./render-rule.ts";
import { NftRuleset } from "./ruleset.ts";

export type BuildOptions = {
  readonly settings: NodeSettings;
  readonly interfacePrefixes: readonly string[];
  readonly marks: Marks;
};

/** An interface of the host and the addresses that it carries now. */
export type HostInterface = { readonly name: string; readonly addresses: readonly AddressRange[] };

const directions: readonly Direction[] = ["ingress", "egress"];
const families = [4, 6] as const;

export class RulesetBuilder {
  readonly ruleset = new NftRuleset();
  #options: BuildOptions;
  #interfaces: readonly HostInterface[] = [];
  readonly #policies = new Map<string, Policy>();
  readonly #profiles = new Map<string, Profile>();
  readonly #endpoints = new Map<string, NodeEndpoint>();
  /** Members as they were said, of sets in which some are wider than an address. */
  readonly #members = new Map<string, Set<string>>();
  /** Chains of tiers by their content, with the chains that jump to them. */
  readonly #tierUsers = new Map<string, Set<string>>();
  readonly #tiersUsedBy = new Map<string, ReadonlySet<string>>();

  constructor(options: BuildOptions) {
    this.#options = options;
    for (const name of [...workloadMaps, ...hostMaps.map((map) => map.name)])
      this.ruleset.declareMap(name, "type ifname : verdict;");
    for (const family of families)
      for (const name of ["hidden", "pools"])
        this.ruleset.declareSet(`${name}${family}`, `type ipv${family}_addr; flags interval;`);
    this.#dispatch();
  }

  take({ sets, policies, profiles, endpoints }: NodeChanges): void {
    this.#takeSets(sets);
    for (const [id, policy] of policies) this.#takePolicy(id, policy);
    for (const [name, profile] of profiles) this.#takeProfile(name, profile);
    for (const [id, endpoint] of endpoints) put(this.#endpoints, id, endpoint);
    // A policy that gained or lost a "pass" changes the chains that jump to it; a profile that came or went, those of its endpoints.
    const isTouched = ({ tiers, endpoint }: NodeEndpoint) =>
      tiers.some((tier) => tier.policies.some(({ id }) => policies.has(id))) ||
      endpoint.profileIds.some((name) => profiles.has(name));
    const touched = [...this.#endpoints].flatMap(([id, one]) => (isTouched(one) ? [id] : []));
    for (const id of new Set([...endpoints.keys(), ...touched])) this.#takeEndpoint(id);
    if (endpoints.size > 0) this.#dispatch();
  }

  takePools(pools: Iterable<Pool>): void {
    const known = [...pools].filter(({ isForPods }) => isForPods);
    for (const family of families) {
      const ofFamily = known.filter(({ net }) => net.family === family);
      this.#replace(
        `pools${family}`,
        ofFamily.map(({ net }) => rangeText(net)),
      );
      this.#replace(
        `hidden${family}`,
        ofFamily.flatMap(({ net, isMasqueraded }) => (isMasqueraded ? [rangeText(net)] : [])),
      );
    }
  }

  takeInterfaces(interfaces: readonly HostInterface[]): void {
    this.#interfaces = interfaces;
    this.#dispatch();
  }

  /** Settings take effect at once, like everything else: with the next transaction. */
  configure(options: BuildOptions): void {
    this.#options = options;
    for (const [id, policy] of this.#policies) this.#takePolicy(id, policy);
    for (const [name, profile] of this.#profiles) this.#takeProfile(name, profile);
    for (const id of this.#endpoints.keys()) this.#takeEndpoint(id);
    this.#dispatch();
  }

  #takeSets(sets: NodeChanges["sets"]): void {
    for (const spec of sets.created)
      for (const family of families) this.ruleset.declareSet(setName(spec.id, family), setDeclaration(spec, family));
    for (const [id, { added, removed }] of sets.members) this.#takeMembers(id, added, removed);
    for (const id of sets.removed) {
      this.#members.delete(id);
      for (const family of families) this.ruleset.removeSet(setName(id, family));
    }
  }

  /** Networks may overlap, which nft refuses: what is programmed is the fewest that hold all of them. */
  #takeMembers(id: string, added: readonly string[], removed: readonly string[]): void {
    const known = this.#members.get(id) ?? new Set<string>();
    this.#members.set(id, known);
    for (const member of removed) known.delete(member);
    for (const member of added) known.add(member);
    const isSimple = ![...known, ...removed].some(isWide);
    for (const family of families) {
      const of = (members: Iterable<string>) => [...members].filter((member) => familyOf(member) === family);
      if (!isSimple) this.#replace(setName(id, family), of(known));
      else
        this.ruleset.changeElements(setName(id, family), {
          added: of(added).map(elementOf),
          removed: of(removed).map(elementOf),
        });
    }
  }

  #replace(set: string, nets: readonly string[]): void {
    const ranges = nets.flatMap((net) => parseRange(net) ?? []);
    const wanted = new Set(
      disjoint(ranges)
        .flatMap(halves)
        .map((net) => elementOf(rangeText(net))),
    );
    const now = new Set(this.ruleset.elements(set));
    this.ruleset.changeElements(set, { added: wanted.difference(now), removed: now.difference(wanted) });
  }

  #takePolicy(id: string, policy: Policy | undefined): void {
    put(this.#policies, id, policy);
    for (const direction of directions) {
      if (policy === undefined) {
        this.ruleset.removeChain(policyChain(id, direction));
        continue;
      }
      const title = `${policy.kind} ${policy.namespace === "" ? "" : `${policy.namespace}/`}${policy.name}`;
      const rules = rulesText(policy.rules[direction], verdictsOf(policy.class, this.#options), title);
      this.ruleset.setChain(policyChain(id, direction), { rules });
    }
  }

  #takeProfile(name: string, profile: Profile | undefined): void {
    put(this.#profiles, name, profile);
    for (const direction of directions) {
      if (profile === undefined) {
        this.ruleset.removeChain(profileChain(name, direction));
        continue;
      }
      // Behind the tiers there is nothing to pass on to.
      const deciding = profile.rules[direction].filter(({ action }) => action !== "pass");
      this.ruleset.setChain(profileChain(name, direction), {
        rules: rulesText(deciding, verdictsOf("normal", this.#options), `profile ${name}`),
      });
    }
  }

  #takeEndpoint(id: string): void {
    const known = this.#endpoints.get(id);
    const context = this.#context();
    for (const direction of directions)
      for (const stage of ["workload", ...hostStages] as const) {
        const name = endpointChain(id, direction, stage);
        const rules = known === undefined ? undefined : linesOf(known, stage, direction, context);
        if (rules === undefined) this.ruleset.removeChain(name);
        else this.ruleset.setChain(name, { rules });
        this.#useTiers(name, rules ?? []);
      }
  }

  #context(): ChainContext {
    return {
      ...this.#options,
      hasPassRule: (id) =>
        directions.some((direction) =>
          this.#policies.get(id)?.rules[direction].some(({ action }) => action === "pass"),
        ),
      isProfileKnown: (name) => this.#profiles.has(name),
      tierChain: (rules) => {
        const name = `tier-${shortHash(rules.join("\n"))}`;
        this.ruleset.setChain(name, { rules });
        return name;
      },
    };
  }

  /** A tier's chain that nobody jumps to any more goes. */
  #useTiers(user: string, rules: readonly string[]): void {
    const now = new Set(rules.flatMap((rule) => /^jump (tier-\S+)$/.exec(rule)?.[1] ?? []));
    const before = this.#tiersUsedBy.get(user) ?? new Set();
    for (const chain of now) this.#tierUsers.set(chain, (this.#tierUsers.get(chain) ?? new Set()).add(user));
    for (const chain of before.difference(now)) {
      const users = this.#tierUsers.get(chain);
      if (users?.delete(user) !== true || users.size > 0) continue;
      this.#tierUsers.delete(chain);
      this.ruleset.removeChain(chain);
    }
    if (now.size === 0) this.#tiersUsedBy.delete(user);
    else this.#tiersUsedBy.set(user, now);
  }

  /** Which interface goes to which chains. The lowest id governs an interface that two endpoints name. */
  #dispatch(): void {
    const wanted = new Map<string, Map<string, string>>();
    const lead = (map: string, interfaceName: string, chain: string) => {
      const elements = wanted.get(map) ?? new Map<string, string>();
      wanted.set(map, elements.set(`"${interfaceName}"`, `goto ${chain}`));
    };
    let ofOthers: string | undefined;
    for (const [id, { endpoint }] of [...this.#endpoints].sort(([a], [b]) => (a < b ? 1 : -1))) {
      if (endpoint.is === "host" && endpoint.interfaceName === "*") ofOthers = id;
      for (const name of this.#interfacesOf(endpoint)) {
        if (endpoint.is === "workload") {
          lead("map-from-workload", name, endpointChain(id, "egress", "workload"));
          lead("map-to-workload", name, endpointChain(id, "ingress", "workload"));
        } else
          for (const { name: map, stage, direction } of hostMaps) lead(map, name, endpointChain(id, direction, stage));
      }
    }
    for (const map of [...workloadMaps, ...hostMaps.map(({ name }) => name)])
      this.#fill(map, wanted.get(map) ?? new Map());
    const others = ofOthers;
    const ofOtherInterfaces = (stage: (typeof hostStages)[number], direction: Direction) =>
      others === undefined || stage === "untracked" ? undefined : endpointChain(others, direction, stage);
    const spoofedSources = this.#spoofedSources();
    for (const [name, chain] of baseChains({ ...this.#options, spoofedSources, ofOtherInterfaces }))
      this.ruleset.setChain(name, chain);
  }

  #spoofedSources() {
    if (!this.#options.settings.allowsSpoofedSources) return [];
    return [...this.#endpoints.values()].flatMap(({ endpoint }) => {
      if (endpoint.is !== "workload") return [];
      const { interfaceName, allowedSources } = endpoint;
      return isInterfaceName(interfaceName) ? allowedSources.map((net) => ({ interfaceName, net })) : [];
    });
  }

  #fill(map: string, wanted: ReadonlyMap<string, string>): void {
    for (const key of this.ruleset.elements(map)) if (!wanted.has(key)) this.ruleset.setMapElement(map, key, undefined);
    for (const [key, value] of wanted) this.ruleset.setMapElement(map, key, value);
  }

  #interfacesOf(endpoint: NodeEndpoint["endpoint"]): readonly string[] {
    const { interfaceName, addresses, is } = endpoint;
    // A pod that asks for what the node does not allow is as good as unknown, which lets nothing pass.
    if (
      endpoint.is === "workload" &&
      endpoint.allowedSources.length > 0 &&
      !this.#options.settings.allowsSpoofedSources
    )
      return [];
    if (interfaceName !== "") return isInterfaceName(interfaceName) ? [interfaceName] : [];
    if (is !== "host") return [];
    const carries = (one: HostInterface) =>
      one.addresses.some((address) => addresses.some((wanted) => holds(wanted, address)));
    return this.#interfaces.filter(carries).map(({ name }) => name);
  }
}

function linesOf(
  { endpoint, tiers }: NodeEndpoint,
  stage: "workload" | (typeof hostStages)[number],
  direction: Direction,
  context: ChainContext,
) {
  if (stage === "workload")
    return endpoint.is === "workload" ? workloadChain({ endpoint, tiers }, direction, context) : undefined;
  return endpoint.is === "host" ? hostChain({ endpoint, tiers }, stage, direction, context) : undefined;
}

function rulesText(rules: readonly Rule[], verdicts: Verdicts, title: string): readonly string[] {
  return rules.flatMap((rule, index) =>
    renderRule(rule, verdicts).map((line) => `${line} ${comment(`${title} rule ${index + 1}`)}`),
  );
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

function isWide(member: string): boolean {
  return !/\/(?:32|128)$/.test(member);
}

function familyOf(member: string): 4 | 6 {
  return member.includes(":") ? 6 : 4;
}

/** "6 80 10.0.0.1/32" is "10.0.0.1 . 6 . 80"; an address alone needs no length. */
function elementOf(member: string): string {
  const [first = "", port, net] = member.split(" ");
  const address = (net ?? first).replace(/\/(?:32|128)$/, "");
  return net === undefined ? address : `${address} . ${first} . ${port}`;
}

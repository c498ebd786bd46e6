// From what a node needs (calico/policy) to chains, sets and maps, kept up to date change by change.
//
//   forward   host-in ▸ from-workload (sender's egress) ▸ to-workload (receiver's ingress) ▸ host-out
//   input     from-workload ▸ to-host
//   output    from-host ▸ translated

import { rangeText } from "../../../base/lib/index.ts";
import {
  type Direction,
  type NodeChanges,
  type NodeEndpoint,
  type Policy,
  type Profile,
  type Rule,
  setsOfRule,
} from "../../../calico/policy/index.ts";
import type { ClusterFacts } from "../cluster-facts.ts";
import type { BuildOptions } from "../settings.ts";
import { baseChains, hostOnlyChains } from "./base-chains.ts";
import { Dispatch, type HostInterface } from "./dispatch.ts";
import {
  type ChainContext,
  dropping,
  droppingOptions,
  hostChain,
  hostStages,
  sampling,
  verdictsOf,
  workloadChain,
} from "./endpoint-chains.ts";
import {
  comment,
  endpointChain,
  isInterfaceName,
  podsChain,
  policyChain,
  profileChain,
  sharedChainIn,
  tierChain,
} from "./names.ts";
import { OwnAddresses } from "./own-addresses.ts";
import { ruleMatches, type Verdicts } from "./render-rule.ts";
import { NftRuleset } from "./ruleset.ts";
import { coverOf, replaceElements, SetContents } from "./set-contents.ts";
import { trialText } from "./trial.ts";

const directions: readonly Direction[] = ["ingress", "egress"];
const families = [4, 6] as const;
/** Sets that are not of rules: what NAT and tunnels ask. */
const ownSets = ["hidden", "pools", "nodes", "tunnel-ends"] as const;

/** A policy or profile, as what the kernel may refuse. */
export type Unit = string;
const profileUnit = (name: string): Unit => `profile ${name}`;

export class RulesetBuilder {
  readonly ruleset = new NftRuleset();
  #options: BuildOptions;
  readonly #dispatch = new Dispatch(this.ruleset);
  readonly #ownAddresses = new OwnAddresses();
  readonly #sets = new SetContents(this.ruleset);
  readonly #policies = new Map<string, Policy>();
  readonly #profiles = new Map<string, Profile>();
  readonly #endpoints = new Map<string, NodeEndpoint>();
  /** Which endpoints have a policy or profile, by its unit. */
  readonly #usersOf = new Map<Unit, Set<string>>();
  readonly #unitsOf = new Map<string, ReadonlySet<Unit>>();
  /** Chains that are called after their content (tiers, and what pods have in common), with the endpoints' chains that lead to them. */
  readonly #sharedUsers = new Map<string, Set<string>>();
  readonly #sharedBy = new Map<string, ReadonlySet<string>>();
  /** What the kernel refuses, and why: these deny. */
  readonly #refused = new Map<Unit, string>();
  #facts: ClusterFacts = { pools: [], hidden: [], nodes: [], tunnelEnds: [], tunnels: noTunnels };

  constructor(options: BuildOptions) {
    this.#options = options;
    for (const family of families)
      for (const name of ownSets)
        this.ruleset.declareSet(`${name}${family}`, `type ipv${family}_addr; flags interval;`);
    this.#base();
  }

  take({ sets, policies, profiles, endpoints }: NodeChanges): void {
    this.#sets.take(sets);
    this.#forgive([...policies.keys(), ...[...profiles.keys()].map(profileUnit)], [...sets.members.keys()]);
    for (const [id, policy] of policies) this.#takePolicy(id, policy);
    for (const [name, profile] of profiles) this.#takeProfile(name, profile);
    // Most changes of an endpoint are of its labels: what they mean is in its tiers and in sets.
    const changed = [...endpoints].filter(([id, now]) => !isSameForPackets(this.#endpoints.get(id), now));
    const touched = new Set(changed.map(([id]) => id));
    for (const [id, endpoint] of endpoints) this.#listEndpoint(id, endpoint);
    // A policy that gained or lost a "pass" changes the chains that jump to it; a profile that came or went, those of its endpoints.
    for (const unit of [...policies.keys(), ...[...profiles.keys()].map(profileUnit)])
      for (const id of this.#usersOf.get(unit) ?? []) touched.add(id);
    for (const id of touched) this.#takeEndpoint(id);
    for (const [id, now] of changed) {
      this.#dispatch.take(id, now?.endpoint, this.#options);
      this.#ownAddresses.take(id, now?.endpoint);
    }
    if (changed.length > 0) this.#base();
  }

  takeFacts(facts: ClusterFacts): void {
    this.#facts = facts;
    const lists = { hidden: facts.hidden, pools: facts.pools, nodes: facts.nodes, "tunnel-ends": facts.tunnelEnds };
    for (const name of ownSets)
      for (const family of families) {
        const nets = lists[name].flatMap((net) => (net.family === family ? [rangeText(net)] : []));
        replaceElements(this.ruleset, `${name}${family}`, coverOf(nets));
      }
    this.#base();
  }

  takeInterfaces(interfaces: readonly HostInterface[]): void {
    this.#dispatch.takeInterfaces(interfaces);
    this.#base();
  }

  /** Settings take effect at once, like everything else: with the next transaction. */
  configure(options: BuildOptions): void {
    this.#options = options;
    this.#rebuild();
    for (const [id, { endpoint }] of this.#endpoints) this.#dispatch.take(id, endpoint, options);
    this.#base();
  }

  /** The table beside the main one: what the host answers to ARP. */
  get arp(): NftRuleset {
    return this.#ownAddresses.ruleset;
  }

  get units(): readonly Unit[] {
    return [...this.#policies.keys(), ...[...this.#profiles.keys()].map(profileUnit)];
  }

  get refused(): ReadonlyMap<Unit, string> {
    return this.#refused;
  }

  /** These deny from now on, until they or their sets change; the rest stays as it is. */
  refuse(units: ReadonlyMap<Unit, string>): void {
    for (const [unit, why] of units) this.#refused.set(unit, why);
    this.#withhold();
    this.#rebuild();
  }

  /** A transaction that shows whether the kernel takes these, and changes nothing. */
  trial(units: readonly Unit[]): string {
    return trialText(
      units.map((unit) => ({
        sets: [...this.#setsOf(unit)].flatMap((id) => this.#sets.declarations(id)),
        chains: directions.map((direction) => this.#unitLines(unit, direction)),
      })),
    );
  }

  /** What is asked for by title, as people know it. */
  titleOf(unit: Unit): string {
    const policy = this.#policies.get(unit);
    return policy === undefined ? unit : titleOf(policy);
  }

  #forgive(units: readonly Unit[], sets: readonly string[]): void {
    if (this.#refused.size === 0) return;
    const changed = new Set(sets);
    const again = [...this.#refused.keys()].filter(
      (unit) => units.includes(unit) || [...this.#setsOf(unit)].some((id) => changed.has(id)),
    );
    for (const unit of again) this.#refused.delete(unit);
    if (again.length === 0) return;
    this.#withhold();
    this.#rebuild();
  }

  #withhold(): void {
    const needed = new Set(
      this.units.filter((unit) => !this.#refused.has(unit)).flatMap((unit) => [...this.#setsOf(unit)]),
    );
    const refused = [...this.#refused.keys()].flatMap((unit) => [...this.#setsOf(unit)]);
    this.#sets.withhold(new Set(refused.filter((id) => !needed.has(id))));
  }

  #rulesOf(unit: Unit): Policy["rules"] | undefined {
    return this.#policies.get(unit)?.rules ?? this.#profiles.get(unit.replace(/^profile /, ""))?.rules;
  }

  #setsOf(unit: Unit): ReadonlySet<string> {
    const rules = this.#rulesOf(unit);
    if (rules === undefined) return new Set();
    return new Set([...rules.ingress, ...rules.egress].flatMap(setsOfRule).map(({ id }) => id));
  }

  #rebuild(): void {
    for (const [id, policy] of this.#policies) this.#takePolicy(id, policy);
    for (const [name, profile] of this.#profiles) this.#takeProfile(name, profile);
    for (const id of this.#endpoints.keys()) this.#takeEndpoint(id);
  }

  #takePolicy(id: string, policy: Policy | undefined): void {
    put(this.#policies, id, policy);
    for (const direction of directions)
      this.#takeUnit(id, direction, policy?.types[direction] === true, (ends) => policyChain(id, direction, ends));
  }

  #takeProfile(name: string, profile: Profile | undefined): void {
    put(this.#profiles, name, profile);
    for (const direction of directions)
      this.#takeUnit(profileUnit(name), direction, profile !== undefined, (ends) =>
        profileChain(name, direction, ends),
      );
  }

  #takeUnit(
    unit: Unit,
    direction: Direction,
    isThere: boolean,
    nameOf: (ends: { readonly dropsOnly: boolean }) => string,
  ): void {
    for (const dropsOnly of [false, true]) {
      const chain = nameOf({ dropsOnly });
      const options = dropsOnly ? droppingOptions(this.#options) : this.#options;
      const isNeeded = isThere && (!dropsOnly || (direction === "egress" && options !== this.#options));
      if (!isNeeded) this.ruleset.removeChain(chain);
      else
        this.ruleset.setChain(chain, { rules: this.#refusedLines(unit) ?? this.#unitLines(unit, direction, options) });
    }
  }

  #refusedLines(unit: Unit): readonly string[] | undefined {
    if (!this.#refused.has(unit)) return undefined;
    return dropping("", `${this.titleOf(unit)} is refused by the kernel and denies`, this.#options);
  }

  #unitLines(unit: Unit, direction: Direction, options = this.#options): readonly string[] {
    const policy = this.#policies.get(unit);
    if (policy !== undefined)
      return this.#rulesText(policy.rules[direction], {
        verdicts: verdictsOf(policy, options, policy.name),
        title: titleOf(policy),
      });
    const profile = this.#profiles.get(unit.replace(/^profile /, ""));
    // Behind the tiers there is nothing to pass on to.
    const deciding = profile?.rules[direction].filter(({ action }) => action !== "pass") ?? [];
    return this.#rulesText(deciding, {
      verdicts: verdictsOf(undefined, options, profile?.name ?? ""),
      title: unit,
    });
  }

  #rulesText(
    rules: readonly Rule[],
    { verdicts, title }: { readonly verdicts: Verdicts; readonly title: string },
  ): readonly string[] {
    return rules.flatMap((rule, index) => {
      const name = `${title} rule ${index + 1}`;
      const sample = rule.action === "deny" ? sampling(name, this.#options) : undefined;
      const statements = [...(sample === undefined ? [] : [sample]), `${verdicts[rule.action]} ${comment(name)}`];
      return ruleMatches(rule).flatMap((match) =>
        statements.map((statement) => (match === "" ? statement : `${match} ${statement}`)),
      );
    });
  }

  #listEndpoint(id: string, known: NodeEndpoint | undefined): void {
    put(this.#endpoints, id, known);
    const units = new Set<Unit>([
      ...(known?.tiers.flatMap(({ policies }) => policies.map((policy) => policy.id)) ?? []),
      ...(known?.endpoint.profileIds.map(profileUnit) ?? []),
    ]);
    for (const unit of this.#unitsOf.get(id) ?? []) {
      const users = this.#usersOf.get(unit);
      if (!units.has(unit) && users?.delete(id) === true && users.size === 0) this.#usersOf.delete(unit);
    }
    for (const unit of units) this.#usersOf.set(unit, (this.#usersOf.get(unit) ?? new Set()).add(id));
    if (known === undefined) this.#unitsOf.delete(id);
    else this.#unitsOf.set(id, units);
  }

  #takeEndpoint(id: string): void {
    const known = this.#endpoints.get(id);
    const context = this.#context();
    const stages = known?.endpoint.is === "host" ? hostStages : known === undefined ? allStages : workloadStage;
    for (const direction of directions)
      for (const stage of stages) {
        const name = endpointChain(id, direction, stage);
        const lines = known === undefined ? undefined : linesOf(known, stage, direction, context);
        // Most pods of a node are policed alike: a chain of one rule for each is a fifth of the work at a start (bench/policy).
        const rules =
          stage === "workload" && lines !== undefined ? [`goto ${this.#shared(podsChain(direction), lines)}`] : lines;
        if (rules === undefined) this.ruleset.removeChain(name);
        else this.ruleset.setChain(name, { rules });
        this.#useShared(name, [...(rules ?? []), ...(lines ?? [])]);
      }
  }

  #context(): ChainContext {
    return {
      ...this.#options,
      dropsOnly: false,
      hasPassRule: (id) =>
        !this.#refused.has(id) &&
        directions.some((direction) =>
          this.#policies.get(id)?.rules[direction].some(({ action }) => action === "pass"),
        ),
      isProfileKnown: (name) => this.#profiles.has(name),
      tierChain: (rules) => this.#shared(tierChain, rules),
    };
  }

  /** The chain that holds these lines, whoever else has the same. */
  #shared(nameOf: (content: string) => string, rules: readonly string[]): string {
    const name = nameOf(rules.join("\n"));
    this.ruleset.setChain(name, { rules });
    return name;
  }

  /** One that nobody leads to any more goes. */
  #useShared(user: string, rules: readonly string[]): void {
    const now = new Set(rules.flatMap((rule) => sharedChainIn(rule) ?? []));
    const before = this.#sharedBy.get(user) ?? new Set();
    for (const chain of now) this.#sharedUsers.set(chain, (this.#sharedUsers.get(chain) ?? new Set()).add(user));
    for (const chain of before.difference(now)) {
      const users = this.#sharedUsers.get(chain);
      if (users?.delete(user) !== true || users.size > 0) continue;
      this.#sharedUsers.delete(chain);
      this.ruleset.removeChain(chain);
    }
    if (now.size === 0) this.#sharedBy.delete(user);
    else this.#sharedBy.set(user, now);
  }

  #base(): void {
    const others = this.#dispatch.ofOthers;
    const { isExcluded, excludedNames } = this.#options;
    const names = this.#dispatch.interfaces.map(({ name }) => name).filter(isInterfaceName);
    const options = {
      ...this.#options,
      excludedNames: [...new Set([...excludedNames, ...names.filter(isExcluded)])].sort(),
      tunnels: this.#facts.tunnels,
      hasHostEndpoints: this.#dispatch.hasHosts,
      spoofedSources: this.#spoofedSources(),
      ofOtherInterfaces: (stage: (typeof hostStages)[number], direction: Direction) =>
        others === undefined || stage === "untracked" ? undefined : endpointChain(others, direction, stage),
    };
    const chains = baseChains(options);
    for (const [name, chain] of chains) this.ruleset.setChain(name, chain);
    for (const name of hostOnlyChains) if (!chains.has(name)) this.ruleset.removeChain(name);
  }

  #spoofedSources() {
    if (!this.#options.settings.allowsSpoofedSources) return [];
    return [...this.#endpoints.values()].flatMap(({ endpoint }) => {
      if (endpoint.is !== "workload") return [];
      const { interfaceName, allowedSources } = endpoint;
      return isInterfaceName(interfaceName) ? allowedSources.map((net) => ({ interfaceName, net })) : [];
    });
  }
}

const noTunnels = { vxlan: { 4: false, 6: false }, ipip: false } as const;
const workloadStage = ["workload"] as const;
const allStages = ["workload", ...hostStages] as const;

function linesOf(
  { endpoint, tiers }: NodeEndpoint,
  stage: (typeof allStages)[number],
  direction: Direction,
  context: ChainContext,
) {
  if (stage === "workload")
    return endpoint.is === "workload" ? workloadChain({ endpoint, tiers }, direction, context) : undefined;
  return endpoint.is === "host" ? hostChain({ endpoint, tiers }, stage, direction, context) : undefined;
}

/** Whether chains, maps and own addresses are made of the same. */
function isSameForPackets(before: NodeEndpoint | undefined, now: NodeEndpoint | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  return textForPackets(before) === textForPackets(now);
}

function textForPackets({ endpoint, tiers }: NodeEndpoint): string {
  const { is, interfaceName, profileIds, addresses } = endpoint;
  const ofWorkload =
    endpoint.is === "workload" ? [endpoint.isActive, endpoint.allowedSources.map((net) => rangeText(net))] : [];
  return JSON.stringify([is, interfaceName, profileIds, addresses.map((net) => rangeText(net)), ofWorkload, tiers]);
}

function titleOf({ kind, namespace, name }: Policy): string {
  return `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

// Every policy with its rules in words, and how many packets each has let pass or denied on the nodes that say so. Counts begin anew on a node when a
// rule is changed there, so they are compared, not added up over time.
import type { Clock } from "../../../base/lib/index.ts";
import { ruleText } from "../../../calico/explain/index.ts";
import { printSelector } from "../../../calico/model/index.ts";
import { type PolicyHit, readPolicyHits, reportPaths } from "../../../calico/node-report/index.ts";
import { type Policy, PolicyData } from "../../../calico/policy/index.ts";
import type { HitsView, PoliciesView, PolicyHitsView } from "../contract.ts";
import type { DashboardSource } from "../source.ts";
import { nodesIn, notAsked, targetsOf } from "./node-health.ts";
import { type Heard, Sweep } from "./sweep.ts";

type Source = Pick<DashboardSource, "felix" | "nodeReports">;

const everyMs = 10_000;
/** So that a page of ten thousand policies is still one that a browser shows. */
const mostRows = 1_000;
const mostNodes = 5;

export class PolicyHits {
  readonly #source: Source;
  readonly #counts: Sweep<PolicyHit[]>;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    const { nodeReports } = source;
    const ask = async (target: Parameters<Sweep<PolicyHit[]>["one"]>[0]) => {
      if (nodeReports.is === "off") throw new Error(nodeReports.why);
      return readPolicyHits(await nodeReports.ask(target, reportPaths.policies));
    };
    this.#counts = new Sweep({ ask, clock, everyMs });
  }

  view(search: string): PoliciesView {
    const { felix, nodeReports } = this.#source;
    const targets = nodeReports.is === "on" ? targetsOf(nodesIn(felix)) : [];
    const heard = targets.length === 0 ? new Map<string, Heard<PolicyHit[]>>() : this.#counts.look(targets);
    const counts = new Counts(heard);
    const data = new PolicyData();
    for (const prefix of ["/calico/v1/policy/"])
      for (const { path, value } of felix.withPrefix(prefix)) data.set(path, value);
    const wanted = search.trim().toLowerCase();
    const all = [...data.policies].filter(([, policy]) => titleOf(policy).toLowerCase().includes(wanted));
    const tiers = new Map([...data.tiers.values()].map(({ name, order }) => [name, order ?? Number.POSITIVE_INFINITY]));
    const policies = all
      .map(([path, policy]) => policyView(path, policy, counts))
      .toSorted(
        (a, b) =>
          (tiers.get(a.tier) ?? Number.POSITIVE_INFINITY) - (tiers.get(b.tier) ?? Number.POSITIVE_INFINITY) ||
          compare(a.tier, b.tier) ||
          (a.order ?? Number.MAX_VALUE) - (b.order ?? Number.MAX_VALUE) ||
          compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`),
      );
    return {
      notAsked: notAsked(nodeReports),
      counted: {
        heard: [...heard.values()].filter(({ value }) => value !== undefined).length,
        of: targets.length,
        silent: [...heard].filter(([, { problem }]) => problem !== undefined).map(([node]) => node),
      },
      policies: policies.slice(0, mostRows),
      total: policies.length,
      others: counts.others(),
    };
  }
}

/** What the nodes have counted, by policy and rule. */
class Counts {
  readonly #rules = new Map<string, { packets: number; bytes: number; nodes: { node: string; packets: number }[] }>();
  readonly #others = new Map<string, { what: string; action: string; packets: number }>();

  constructor(heard: ReadonlyMap<string, Heard<PolicyHit[]>>) {
    for (const [node, { value = [] }] of heard) for (const hit of value) this.#add(node, hit);
  }

  of(title: string, direction: string, number: number) {
    const found = this.#rules.get(`${title} ${direction} ${number}`);
    const nodes = (found?.nodes ?? []).toSorted((a, b) => b.packets - a.packets).slice(0, mostNodes);
    return { packets: found?.packets ?? 0, bytes: found?.bytes ?? 0, nodes };
  }

  others(): PoliciesView["others"] {
    return [...this.#others.values()].toSorted((a, b) => b.packets - a.packets).slice(0, 50);
  }

  #add(node: string, { policy, rule, direction, action, packets, bytes, reason }: PolicyHit): void {
    if (policy === "" || policy.startsWith("profile ")) {
      const what = policy === "" ? reason : `${policy}, ${direction} rule ${rule}`;
      if (what === "") return; // counters that say of nothing that it was decided
      const known = this.#others.get(`${what} ${action}`) ?? { what, action, packets: 0 };
      known.packets += packets;
      this.#others.set(`${what} ${action}`, known);
      return;
    }
    const key = `${policy} ${direction} ${rule}`;
    const known = this.#rules.get(key) ?? { packets: 0, bytes: 0, nodes: [] };
    known.packets += packets;
    known.bytes += bytes;
    known.nodes.push({ node, packets });
    this.#rules.set(key, known);
  }
}

function policyView(path: string, policy: Policy, counts: Counts): PolicyHitsView {
  const { kind, namespace, name, tier, types } = policy;
  const title = titleOf(policy);
  const hits: HitsView = { allowed: 0, denied: 0, passed: 0 };
  const rules = (["ingress", "egress"] as const).flatMap((direction) =>
    policy.rules[direction].map((rule, index) => {
      const counted = counts.of(title, direction, index + 1);
      if (rule.action === "allow") hits.allowed += counted.packets;
      else if (rule.action === "deny") hits.denied += counted.packets;
      else if (rule.action === "pass") hits.passed += counted.packets;
      return { direction, number: index + 1, text: ruleText(rule), ...counted };
    }),
  );
  return {
    ...{ path, kind, namespace, name, tier, hits, rules },
    order: policy.order ?? null,
    selector: printSelector(policy.selector),
    types: (["ingress", "egress"] as const).filter((direction) => types[direction]),
    staged: policy.isStaged,
    inboundRules: policy.rules.ingress.length,
    outboundRules: policy.rules.egress.length,
  };
}

/** As the agents title them (node/dataplane/nft/names.ts cleans and cuts what stands in a comment of the kernel's). */
function titleOf({ kind, namespace, name }: Policy): string {
  const title = `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
  return title.replace(/[^A-Za-z0-9_./:() -]/g, "?");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

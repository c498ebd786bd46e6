// A cluster whose policies can be changed as a hint of explain says, and be put back.
import { parse } from "yaml";
import { ruleOrigins } from "../../../src/calico/convert/index.ts";
import { type Answered, type Asked, answer, noSources, originIn, shownOf } from "../../../src/calico/explain/index.ts";
import { keyToPath, type PolicyKind, type RuleOrigins } from "../../../src/calico/model/index.ts";
import type { ApiObject, PolicyWorld } from "../policy-world.ts";

type Direction = "ingress" | "egress";
type Rules = { readonly [D in Direction]?: readonly object[] };

const kinds: { readonly [title: string]: PolicyKind } = {
  "NetworkPolicy (Kubernetes)": "KubernetesNetworkPolicy",
  ClusterNetworkPolicy: "KubernetesClusterNetworkPolicy",
  GlobalNetworkPolicy: "GlobalNetworkPolicy",
  NetworkPolicy: "NetworkPolicy",
};
const place = String.raw`(ingress|egress) rule (\d+)(?: \(\S+\))? of ([A-Za-z]+(?: \(Kubernetes\))? [a-z0-9/]+)`;

export class FollowedCluster {
  readonly #world: PolicyWorld;
  /** As explain calls them. */
  readonly #policies = new Map<string, ApiObject>();
  readonly #changed = new Set<string>();
  /** As changed so far. */
  readonly #now = new Map<string, ApiObject>();

  constructor(world: PolicyWorld, policies: readonly ApiObject[]) {
    this.#world = world;
    for (const policy of policies) this.#policies.set(titleOf(policy), policy);
    for (const policy of policies) world.write(policy);
  }

  ask(asked: Asked): { readonly answered: Answered; readonly hint: string | undefined } {
    const answered = answer(asked, this.#world.data);
    return { answered, hint: shownOf(answered, { ...noSources, originOf: originIn(this.#origins()) }).change };
  }

  /** False: a hint of a form that is not known. */
  follow(hint: string): boolean {
    const [, example = ""] = /, for example\n([\s\S]+?)(?:\nThen ask again.*)?$/.exec(hint) ?? [];
    const [first] = hint.split("\n");
    const before = new RegExp(`(To allow it: an|To deny it: put) .* before ${place}`).exec(first ?? "");
    const within = /^To allow it: an (\S+) rule in (?:one of )?([^,]+)/.exec(hint);
    const selecting = /^To deny it: a policy with (\S+) rules that selects/.exec(hint);
    const change = new RegExp(`^To allow it: change ${place}`).exec(hint);
    if (before !== null) {
      const [, to = "", direction, number, title = ""] = before;
      const at = Number(number) - 1;
      this.#edit(title, asDirection(direction), (list) =>
        list.toSpliced(at, 0, ...(to.startsWith("To allow") ? parse(example) : [{ ...list[at], action: "Deny" }])),
      );
    } else if (within !== null)
      this.#edit(within[2] ?? "", asDirection(within[1]), (list) => [...list, ...parse(example)]);
    else if (change !== null)
      this.#edit(change[3] ?? "", asDirection(change[1]), (list) =>
        list.with(Number(change[2]) - 1, { ...list[Number(change[2]) - 1], action: "Accept" }),
      );
    else if (hint.startsWith("To deny it: take it out of ")) this.#takeOut(hint);
    else if (selecting !== null) this.#decide("Deny", asDirection(selecting[1]));
    else if (hint.includes("; a policy that allows it would do.")) this.#decide("Allow", undefined);
    else return false;
    return true;
  }

  putBack(): void {
    for (const title of this.#changed) {
      const policy = this.#policies.get(title);
      if (policy === undefined) this.#world.remove(deciding("", []));
      else this.#world.write(policy);
    }
    this.#changed.clear();
    this.#now.clear();
  }

  #edit(title: string, direction: Direction, edit: (rules: readonly object[]) => readonly object[]): void {
    const policy = this.#now.get(title) ?? this.#policies.get(title);
    if (policy === undefined) throw new Error(`there is no ${title}`);
    const rules = (policy.spec as Rules)[direction] ?? []; // of a policy that this file has been given
    const changed = { ...policy, spec: { ...(policy.spec as object), [direction]: edit(rules) } }; // as above
    this.#changed.add(title);
    this.#now.set(title, changed);
    this.#world.write(changed);
  }

  /** A rule that is written may be several that nodes have, and is named for each. */
  #takeOut(hint: string): void {
    const places = new Map<string, [string, Direction, number]>();
    for (const [, direction, number, title = ""] of hint.matchAll(new RegExp(place, "g")))
      places.set(`${title} ${direction} ${number}`, [title, asDirection(direction), Number(number)]);
    for (const [title, direction, number] of [...places.values()].toSorted((a, b) => b[2] - a[2]))
      this.#edit(title, direction, (rules) => rules.toSpliced(number - 1, 1));
  }

  #decide(action: string, direction: Direction | undefined): void {
    const types = direction === undefined ? ["Ingress", "Egress"] : [direction === "ingress" ? "Ingress" : "Egress"];
    this.#changed.add("deciding");
    this.#world.write(deciding(action, types));
  }

  #origins(): ReadonlyMap<string, RuleOrigins> {
    const origins = new Map<string, RuleOrigins>();
    for (const [title, given] of this.#policies) {
      const value = this.#now.get(title) ?? given;
      const kind = kinds[title.slice(0, title.lastIndexOf(" "))] ?? "NetworkPolicy";
      const id = { namespace: value.metadata.namespace ?? "", name: value.metadata.name };
      const path = keyToPath({ is: "Policy", kind, ...id }) ?? "";
      const found = ruleOrigins(kind, { id, value, sent: this.#world.said.get(path) ?? "" });
      if (found !== undefined) origins.set(path, found);
    }
    return origins;
  }
}

function titleOf({ apiVersion, kind, metadata: { namespace, name } }: ApiObject): string {
  const shown = apiVersion === "networking.k8s.io/v1" ? "NetworkPolicy (Kubernetes)" : kind;
  return `${shown} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function asDirection(text: string | undefined): Direction {
  return text === "ingress" ? "ingress" : "egress";
}

function deciding(action: string, types: readonly string[]): ApiObject {
  const spec = { order: -1000, selector: "all()", types, ingress: [{ action }], egress: [{ action }] };
  return { apiVersion: "crd.projectcalico.org/v1", kind: "GlobalNetworkPolicy", metadata: { name: "deciding" }, spec };
}

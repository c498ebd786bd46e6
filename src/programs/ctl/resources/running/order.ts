// Which objects of one input must wait for which. The original writes one after the other, and its answers depend on that
// order in a few places only: the same object twice, a policy and its tier, a peer and its filters, pools that overlap, a
// node that takes other objects along. Everything else may be written at the same time.
//
// An object claims what it depends on, alone (it changes it) or together with others (it only needs it). Whoever claims
// something waits for all earlier claims on it, unless both are shared:
//
//   Tier t            tier t, alone ───┐
//   policy a in t     tier t, shared ◀─┤
//   policy b in t     tier t, shared ◀─┤   a and b at the same time
//   Tier t again      tier t, alone ◀──┴── after both
import { type AddressRange, holds, parseRange } from "../../../../base/lib/index.ts";
import type { Target } from "../targets/targets.ts";

export type OrderedVerb = "create" | "apply" | "replace" | "delete" | "get";

type Claim = { readonly on: string; readonly isShared: boolean };

const policies: readonly string[] = [
  "GlobalNetworkPolicy",
  "NetworkPolicy",
  "StagedGlobalNetworkPolicy",
  "StagedNetworkPolicy",
];

/** For each object the earlier ones, by their place in the input, that must be over before it begins. */
export function predecessors(
  verb: OrderedVerb,
  targets: readonly Pick<Target, "kind" | "id" | "object">[],
): readonly (readonly number[])[] {
  if (verb === "get") return targets.map(() => []);
  const claims = new Claims();
  const pools: { at: number; range: AddressRange | undefined }[] = [];
  return targets.map((target, at) => {
    const found = claims.add(at, claimsOf(verb, target));
    if (target.kind === "IPPool" && verb !== "delete") {
      const range = parseRange(textOf(target.object.spec.cidr));
      for (const pool of pools) if (mayMeet(pool.range, range)) found.add(pool.at);
      pools.push({ at, range });
    }
    return [...found].sort((a, b) => a - b);
  });
}

/** Who claimed what since it was last claimed alone. */
class Claims {
  readonly #alone = new Map<string, number>();
  readonly #shared = new Map<string, number[]>();

  add(at: number, claims: readonly Claim[]): Set<number> {
    const before = new Set<number>();
    for (const { on, isShared } of claims) {
      const last = this.#alone.get(on);
      const together = this.#shared.get(on) ?? [];
      if (last !== undefined && (isShared || together.length === 0)) before.add(last);
      if (isShared) {
        this.#shared.set(on, [...together, at]);
        continue;
      }
      for (const one of together) before.add(one);
      this.#alone.set(on, at);
      this.#shared.delete(on);
    }
    before.delete(at);
    return before;
  }
}

function claimsOf(verb: OrderedVerb, { kind, id, object }: Pick<Target, "kind" | "id" | "object">): Claim[] {
  const alone = (on: string): Claim => ({ on, isShared: false });
  const shared = (on: string): Claim => ({ on, isShared: true });
  const itself = alone(`${kind} ${id.namespace}/${id.name}`);
  if (verb === "delete") {
    // What is stored may differ from what the input says: tiers, and nodes of etcd, which take along what is about them.
    const isWide = kind === "Tier" || kind === "Node" || kind === "BGPFilter";
    return [itself, isWide ? alone("everything") : shared("everything")];
  }
  const { spec } = object;
  if (kind === "Tier") return [itself, alone(`tier ${id.name}`)];
  if (policies.includes(kind)) return [itself, shared(`tier ${textOf(spec.tier) || "default"}`)];
  if (kind === "BGPFilter") return [itself, alone(`filter ${id.name}`)];
  if (kind === "BGPPeer") return [itself, ...listOf(spec.filters).map((name) => shared(`filter ${name}`))];
  return [itself];
}

/** A pool whose range cannot be read is refused by itself; until that is said, nothing is known of it. */
function mayMeet(a: AddressRange | undefined, b: AddressRange | undefined): boolean {
  return a === undefined || b === undefined || holds(a, b) || holds(b, a);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

// Rules of other programs that drop some of what passes, of `nft -j list ruleset`: under which conditions, and what is accepted before they are
// asked. Two listings say which of them counted packets in between. Pure.
//
//   base chain ─▶ rules in order ─▶ an accept: later rules do not see those packets ("unless")
//                     │         ─▶ a jump: the other chain's rules, under this rule's conditions, too
//                     │         ─▶ a jump to Calico's own chains: they decide, and the rest is not asked
//                     └─────────▶ a drop or reject: a suspect; and the policy at the end is one
import { type Family, isRecord, type JsonRecord, parseJson } from "../../../../base/lib/index.ts";
import type { Hook, RuleCondition, SuspectRule } from "../../facts.ts";
import { isDropPart, isOwnChain, isOwnTable, isSilentPart } from "./firewall.ts";
import { conditionOf, conditionText } from "./rule-conditions.ts";

const hooks: { readonly [name: string]: Hook | undefined } = {
  ingress: "ingress",
  prerouting: "prerouting",
  input: "input",
  forward: "forward",
  output: "output",
  postrouting: "postrouting",
};

const familiesOfTable: { readonly [table: string]: readonly Family[] | undefined } = {
  ip: [4],
  ip6: [6],
  inet: [4, 6],
  netdev: [4, 6],
};

const deepest = 8;
/** Firewalls of service meshes and blockers of addresses have tens of thousands of rules: more than these would not be read by anybody. */
const most = 5_000;
const mostVisits = 100_000;

type Rules = {
  readonly chains: readonly JsonRecord[];
  readonly rules: ReadonlyMap<string, readonly JsonRecord[]>;
  /** Their elements. */
  readonly sets: ReadonlyMap<string, readonly unknown[]>;
};

function rulesOf(nftJson: string): Rules {
  const read = nftJson.trim() === "" ? undefined : parseJson(nftJson);
  const entries = isRecord(read) && Array.isArray(read.nftables) ? read.nftables.filter(isRecord) : [];
  const rules = entries.flatMap(({ rule }) => (isRecord(rule) ? [rule] : []));
  return {
    chains: entries.flatMap(({ chain }) => (isRecord(chain) ? [chain] : [])),
    rules: Map.groupBy(rules, ({ family, table, chain }) => placeOf(family, table, chain)),
    sets: new Map(
      entries.flatMap(({ set }) =>
        isRecord(set) ? [[placeOf(set.family, set.table, set.name), elementsOf(set)] as const] : [],
      ),
    ),
  };
}

function placeOf(...parts: readonly unknown[]): string {
  return parts.map(String).join("\n");
}

/** `before` is a listing from before the pings were sent, and `after` from afterwards. */
export function suspectRules(before: string, after: string): SuspectRule[] {
  const counted = new Map([...rulesOf(before).rules.values()].flat().map((rule) => [idOf(rule), countOf(rule)]));
  const { chains, rules, sets } = rulesOf(after);
  const found: SuspectRule[] = [];
  let visits = 0;
  const walk = (
    base: JsonRecord,
    chain: string,
    given: { readonly conditions: readonly RuleCondition[]; readonly unless: readonly (readonly RuleCondition[])[] },
    depth: number,
  ): void => {
    const unless = [...given.unless];
    for (const rule of rules.get(placeOf(base.family, base.table, chain)) ?? []) {
      visits += 1;
      if (found.length > most || visits > mostVisits) return;
      const { verdict, target, own, isKnown, text } = readRule(rule, sets);
      const conditions = [...given.conditions, ...own];
      if (target !== undefined && isOwnChain(target)) return;
      if (target !== undefined && depth < deepest) walk(base, target, { conditions, unless }, depth + 1);
      if (verdict === "accept" && isKnown) unless.push(conditions);
      if (verdict === "return" && isKnown && own.length === 0) return;
      if (verdict !== "drop") continue;
      const [count, earlier] = [countOf(rule), counted.get(idOf(rule))];
      const grew = count === undefined ? undefined : count - (earlier ?? 0);
      // A rule that counts tells by itself whether it did it; one that does not has to be understood.
      if (grew === undefined ? isKnown : grew > 0)
        found.push({
          ...placed(base, chain, text),
          conditions,
          unless: [...unless],
          ...(grew === undefined ? {} : { grew }),
        });
    }
    if (depth === 0 && base.policy === "drop")
      found.push({ ...placed(base, chain, "policy drop"), conditions: [], unless });
  };
  for (const base of chains) {
    const isAsked = base.type === "filter" && familiesOfTable[String(base.family)] !== undefined;
    if (!isAsked || isOwnTable(String(base.table)) || hooks[String(base.hook)] === undefined) continue;
    walk(base, String(base.name), { conditions: [], unless: [] }, 0);
  }
  return found;
}

function placed({ family, table, hook }: JsonRecord, chain: string, rule: string) {
  const [families, known] = [familiesOfTable[String(family)] ?? [], hooks[String(hook)]];
  const place = {
    families,
    table: `${family} ${table}`,
    chain,
    rule,
    command: `nft list chain ${family} ${table} ${chain}`,
  };
  return known === undefined ? place : { ...place, hook: known };
}

function idOf({ family, table, handle }: JsonRecord): string {
  return placeOf(family, table, handle);
}

function expressions({ expr }: JsonRecord): JsonRecord[] {
  return Array.isArray(expr) ? expr.filter(isRecord) : [];
}

function countOf(rule: JsonRecord): number | undefined {
  for (const { counter } of expressions(rule))
    if (isRecord(counter) && typeof counter.packets === "number") return counter.packets;
  return undefined;
}

type ReadRule = {
  readonly verdict?: "accept" | "drop" | "return";
  readonly target?: string;
  readonly own: readonly RuleCondition[];
  /** Every part of it is understood. */
  readonly isKnown: boolean;
  readonly text: string;
};

/** With a time or a counter of its own an element is a record. */
function elementsOf({ elem }: JsonRecord): readonly unknown[] {
  return (Array.isArray(elem) ? elem : []).map((each) =>
    isRecord(each) && isRecord(each.elem) ? each.elem.val : each,
  );
}

/** A match with what its named set has in it. */
function withElements(match: unknown, { family, table }: JsonRecord, sets: Rules["sets"]): unknown {
  if (!isRecord(match) || typeof match.right !== "string" || !match.right.startsWith("@")) return match;
  const elements = sets.get(placeOf(family, table, match.right.slice(1)));
  return elements === undefined ? match : { ...match, right: { set: elements } };
}

function readRule(rule: JsonRecord, sets: Rules["sets"]): ReadRule {
  const own: RuleCondition[] = [];
  const words: string[] = [];
  let isKnown = true;
  let verdict: ReadRule["verdict"];
  let target: string | undefined;
  for (const part of expressions(rule)) {
    if (isSilentPart(part)) continue;
    const jump = isRecord(part.jump) ? part.jump : part.goto;
    if ("match" in part) {
      const condition = conditionOf(withElements(part.match, rule, sets));
      if (condition === "always") continue;
      if (condition === "never") return { own, isKnown: true, text: "" };
      if (condition === undefined) isKnown = false;
      else own.push(condition);
      words.push(condition === undefined ? "..." : conditionText(condition));
    } else if ("accept" in part) verdict = "accept";
    else if ("return" in part) verdict = "return";
    else if (isDropPart(part)) {
      verdict = "drop";
      words.push("drop" in part ? "drop" : "reject");
    } else if (isRecord(jump) && typeof jump.target === "string") target = jump.target;
    else {
      isKnown = false;
      words.push("...");
    }
  }
  return { own, isKnown, text: words.join(" "), ...(verdict && { verdict }), ...(target !== undefined && { target }) };
}

const legacyHooks: { readonly [chain: string]: Hook | undefined } = {
  PREROUTING: "prerouting",
  INPUT: "input",
  FORWARD: "forward",
  OUTPUT: "output",
  POSTROUTING: "postrouting",
};

/** Of two `iptables-legacy-save -c`: all of its rules count, and so do its policies. */
export function legacySuspects(before: string, after: string, family: Family): SuspectRule[] {
  const program = family === 4 ? "iptables-legacy" : "ip6tables-legacy";
  const counts = new Map(legacyLines(before).map(({ id, count }) => [id, count]));
  return legacyLines(after).flatMap(({ id, table, chain, rule, count }) => {
    const grew = count - (counts.get(id) ?? 0);
    if (grew <= 0 || isOwnChain(chain)) return [];
    const hook = legacyHooks[chain];
    const place = { families: [family], table: `${table} (${program})`, chain, rule, conditions: [], unless: [] };
    return [{ ...place, grew, command: `${program} -t ${table} -vS ${chain}`, ...(hook && { hook }) }];
  });
}

/** Those that drop. Equal lines of a chain are told apart by their number. */
function legacyLines(save: string) {
  let table = "filter";
  return save.split("\n").flatMap((line, at) => {
    const heading = /^\*(\w+)/.exec(line);
    if (heading?.[1] !== undefined) table = heading[1];
    const rule = /^\[(\d+):\d+\] -A (\S+) (.*-j (?:DROP|REJECT)\b.*)$/.exec(line);
    const policy = /^:(\S+) (DROP) \[(\d+):\d+\]/.exec(line);
    const [count, chain, text] = rule?.slice(1) ?? [policy?.[3], policy?.[1], "policy DROP"];
    if (count === undefined || chain === undefined || text === undefined) return [];
    return [{ id: `${at} ${table} ${chain} ${text}`, table, chain, rule: text, count: Number(count) }];
  });
}

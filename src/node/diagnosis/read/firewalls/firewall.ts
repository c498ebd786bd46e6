// Chains of other programs that drop what a node forwards: `nft -j list ruleset`, and iptables' older tables. Pure.
//
// A base chain at the hook "forward" with the policy drop is one, unless it lets Calico decide (a jump to a chain of Calico's) or accepts
// everything at its end; and one whose last word is an unconditional drop.
import { type Family, isRecord, type JsonRecord, parseJson } from "../../../../base/lib/index.ts";
import type { ForeignDrop } from "../../facts.ts";

/** Ours, and those of the original. */
const ownTable = /^(cattail|calico)/;
const ownChain = /^cali-|^(cattail|calico)/;

export function isOwnTable(name: string): boolean {
  return ownTable.test(name);
}

export function isOwnChain(name: string): boolean {
  return ownChain.test(name);
}

const familiesOfTable: { readonly [table: string]: readonly Family[] | undefined } = {
  ip: [4],
  ip6: [6],
  inet: [4, 6],
};

/** Which agents have rules here: ours has a table of its own, the original tables, or chains of iptables. */
export function ruleOwners(nftJson: string): ("cattail" | "calico")[] {
  const read = nftJson.trim() === "" ? undefined : parseJson(nftJson);
  const entries = isRecord(read) && Array.isArray(read.nftables) ? read.nftables.filter(isRecord) : [];
  const has = (of: "table" | "chain", name: RegExp) =>
    entries.some((entry) => isRecord(entry[of]) && name.test(String(entry[of].name)));
  return [
    ...(has("table", /^cattail$/) ? (["cattail"] as const) : []),
    ...(has("table", /^calico$/) || has("chain", /^cali-FORWARD$/) ? (["calico"] as const) : []),
  ];
}

export function foreignDrops(nftJson: string): ForeignDrop[] {
  const read = nftJson.trim() === "" ? undefined : parseJson(nftJson);
  const entries = isRecord(read) && Array.isArray(read.nftables) ? read.nftables.filter(isRecord) : [];
  const rules = entries.flatMap(({ rule }) => (isRecord(rule) ? [rule] : []));
  return entries.flatMap(({ chain }): ForeignDrop[] => {
    if (!isRecord(chain) || chain.hook !== "forward" || chain.type !== "filter") return [];
    const families = familiesOfTable[String(chain.family)];
    if (families === undefined || ownTable.test(String(chain.table))) return [];
    const own = rules.filter(
      (rule) => rule.family === chain.family && rule.table === chain.table && rule.chain === chain.name,
    );
    // In their order: what comes after the first that decides about everything is never asked.
    const last = own.find((rule) => verdictOf(rule) !== undefined || jumpsTo(rule, ownChain));
    const verdict = last === undefined ? undefined : (verdictOf(last) ?? "accept");
    if (verdict === "accept") return [];
    const place = { families, table: `${chain.family} ${chain.table}`, chain: String(chain.name) };
    const command = `nft list chain ${chain.family} ${chain.table} ${chain.name}`;
    if (verdict === "drop") return [{ ...place, what: "a rule drops everything", command }];
    return chain.policy === "drop" ? [{ ...place, what: "its policy is drop", command }] : [];
  });
}

/** Of a rule without conditions only. */
function verdictOf({ expr }: JsonRecord): "accept" | "drop" | undefined {
  const parts = (Array.isArray(expr) ? expr.filter(isRecord) : []).filter((part) => !isSilentPart(part));
  const [only, ...more] = parts;
  if (only === undefined || more.length > 0) return undefined;
  return "accept" in only ? "accept" : isDropPart(only) ? "drop" : undefined;
}

/** It asks nothing of a packet, and decides nothing. */
export function isSilentPart(part: JsonRecord): boolean {
  const isComment = isRecord(part.xt) && part.xt.type === "match" && part.xt.name === "comment";
  return "counter" in part || "log" in part || "comment" in part || isComment;
}

/** REJECT of iptables is one that nft has no word of its own for. */
export function isDropPart(part: JsonRecord): boolean {
  const isReject = isRecord(part.xt) && part.xt.type === "target" && part.xt.name === "REJECT";
  return "drop" in part || "reject" in part || isReject;
}

function jumpsTo({ expr }: JsonRecord, chain: RegExp): boolean {
  return (Array.isArray(expr) ? expr : []).some((part) => {
    if (!isRecord(part)) return false;
    const target = isRecord(part.jump) ? part.jump.target : isRecord(part.goto) ? part.goto.target : undefined;
    return typeof target === "string" && chain.test(target);
  });
}

/** Of `iptables-legacy-save -c`, or of `ip6tables-legacy-save`. */
export function foreignLegacyDrops(save: string, family: Family = 4): ForeignDrop[] {
  const lines = save.slice(Math.max(save.indexOf("*filter"), 0)).split(/^COMMIT/m)[0] ?? "";
  const rules = lines.split("\n").map((line) => line.replace(/^\[\d+:\d+\] /, ""));
  const all = rules.find((line) =>
    /^-A FORWARD (-j cali-|-j (ACCEPT|DROP|REJECT)\b|-m comment .* -j cali-)/.test(line),
  );
  const isDropped = all === undefined ? /^:FORWARD DROP\b/m.test(lines) : / -j (DROP|REJECT)\b/.test(all);
  if (!isDropped) return [];
  const program = family === 4 ? "iptables-legacy" : "ip6tables-legacy";
  const what = all === undefined ? "its policy is drop" : "a rule drops everything";
  const place = { families: [family], table: `filter (${program})`, chain: "FORWARD" };
  return [{ ...place, what, command: `${program} -S FORWARD` }];
}

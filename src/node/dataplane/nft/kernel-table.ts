// Our table as the kernel tells of it. It spells rules otherwise than we do, so each carries a stamp in its comment: a hash of the text
// that it was made of. Elements of sets and maps are compared as they are.
//
//   rule text ──stamped──▶ kernel ──nft -j list table──▶ KernelTable ──adopt──▶ the difference (ruleset.ts)
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { shortHash } from "./names.ts";

export type KernelTable = {
  /** Somebody has given it a flag. We give none, and one of them ("dormant") has the kernel start none of its chains. */
  readonly hasFlags: boolean;
  readonly chains: ReadonlyMap<
    string,
    {
      /** As base-chains.ts says it; undefined: the kernel does not start this one. */
      readonly hook: string | undefined;
      readonly stamps: readonly string[];
    }
  >;
  readonly sets: ReadonlyMap<
    string,
    {
      readonly is: "set" | "map";
      readonly declaration: string;
      /** With "" as their value in a set. */
      readonly elements: ReadonlyMap<string, string>;
    }
  >;
};

/** Of a rule's text without its stamp. */
export function stampOf(rule: string): string {
  return shortHash(rule).slice(0, 10);
}

/** The comment is the last thing of a rule, and is short enough for the stamp (names.ts). */
export function stamped(rule: string): string {
  const stamp = `#${stampOf(rule)}`;
  return rule.endsWith('"') && rule.includes(' comment "')
    ? `${rule.slice(0, -1)} ${stamp}"`
    : `${rule} comment "${stamp}"`;
}

/** What `nft --json --numeric list table` prints. What cannot be read has no stamp, and so is made anew. */
export function readTable(listing: unknown): KernelTable {
  const chains = new Map<string, { hook: string | undefined; stamps: string[] }>();
  let hasFlags = false;
  const sets = new Map<string, { is: "set" | "map"; declaration: string; elements: Map<string, string> }>();
  for (const entry of isRecord(listing) && Array.isArray(listing.nftables) ? listing.nftables : []) {
    if (!isRecord(entry)) continue;
    const { table, chain, rule, set, map } = entry;
    // nft 1.0.6 writes the table's name where the flag's should be.
    if (isRecord(table) && table.flags !== undefined) hasFlags = true;
    if (isRecord(chain)) chains.set(String(chain.name), { hook: hookOf(chain), stamps: [] });
    if (isRecord(rule)) chains.get(String(rule.chain))?.stamps.push(stampIn(rule.comment));
    if (isRecord(set)) sets.set(String(set.name), { is: "set", declaration: declared(set), elements: elementsOf(set) });
    if (isRecord(map)) sets.set(String(map.name), { is: "map", declaration: declared(map), elements: elementsOf(map) });
  }
  return { hasFlags, chains, sets };
}

function hookOf({ type, hook, prio, policy }: JsonRecord): string | undefined {
  if (hook === undefined) return undefined;
  return `type ${String(type)} hook ${String(hook)} priority ${String(prio)}; policy ${String(policy)};`;
}

function stampIn(comment: unknown): string {
  return (typeof comment === "string" ? /#([0-9a-f]{10})$/.exec(comment)?.[1] : undefined) ?? "";
}

/** As render-rule.ts and build.ts declare them. */
function declared({ type, map, flags }: JsonRecord): string {
  const types = Array.isArray(type) ? type.join(" . ") : String(type);
  const value = map === undefined ? "" : ` : ${String(map)}`;
  return `type ${types}${value};${Array.isArray(flags) && flags.length > 0 ? ` flags ${flags.join(", ")};` : ""}`;
}

function elementsOf({ elem, type }: JsonRecord): Map<string, string> {
  const found = new Map<string, string>();
  const isOfInterface = Array.isArray(type) && type[0] === "ifname";
  for (const one of Array.isArray(elem) ? elem : []) {
    if (!Array.isArray(one)) found.set(isOfInterface ? keyText(one).replace(/^[^ ]+/, '"$&"') : keyText(one), "");
    else found.set(`"${keyText(one[0])}"`, verdictText(one[1]));
  }
  return found;
}

function keyText(element: unknown): string {
  if (!isRecord(element)) return String(element);
  const { prefix, concat, elem } = element;
  if (isRecord(prefix)) return `${String(prefix.addr)}/${String(prefix.len)}`;
  if (Array.isArray(concat)) return concat.map(String).join(" . ");
  // With a counter or a timeout, which ours have not.
  return isRecord(elem) ? keyText(elem.val) : JSON.stringify(element);
}

function verdictText(verdict: unknown): string {
  if (!isRecord(verdict)) return "";
  const { jump: to } = verdict;
  return isRecord(to) ? `jump ${String(to.target)}` : JSON.stringify(verdict);
}

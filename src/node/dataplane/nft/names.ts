// What our chains, sets and maps are called, and the only texts of others that may stand in a ruleset. Names are made from a hash,
// so nothing that somebody has named can end a statement; comments tell people which policy a chain is of, cut and cleaned.
import { hash } from "node:crypto";

/** Ours alone; the original's tables are called "calico". */
export const tableName = "cattail";
/** Of our tables: one for packets of both families, one for what hosts answer to ARP. */
export const families = ["inet", "arp"] as const;
export type Family = (typeof families)[number];

export function shortHash(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}

export type Direction = "ingress" | "egress";
const letter: { readonly [D in Direction]: string } = { ingress: "i", egress: "e" };

/** Policies and profiles have a second chain where packets are refused with an answer: for places from which nobody can be answered. */
type Ends = { readonly dropsOnly: boolean };
const ending = ({ dropsOnly }: Ends) => (dropsOnly ? "-drops" : "");
export const policyChain = (id: string, direction: Direction, ends: Ends) =>
  `pol-${letter[direction]}-${shortHash(id)}${ending(ends)}`;
export const profileChain = (name: string, direction: Direction, ends: Ends) =>
  `pro-${letter[direction]}-${shortHash(name)}${ending(ends)}`;
/** Called after what they hold: whoever has the same shares them. */
export const tierChain = (content: string) => `tier-${shortHash(content)}`;
export const podsChain = (direction: Direction) => (content: string) =>
  `pods-${letter[direction]}-${shortHash(content)}`;
/** The one that a rule leads to. */
export const sharedChainIn = (rule: string) => /^(?:jump|goto) ((?:tier|pods-[ie])-\w+)$/.exec(rule)?.[1];
export const endpointChain = (id: string, direction: Direction, of: string) =>
  `ep-${of}-${letter[direction]}-${shortHash(id)}`;
export const setName = (id: string, family: 4 | 6) => `set${family}-${shortHash(id)}`;

const longestInterface = 15;

/** As the original reads them; what is not such a name is no interface of ours. */
export function isInterfaceName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,15}$/.test(text);
}

/** All interfaces whose names begin so; nothing can follow the longest name, and nft takes no "*" behind it. */
export function interfacesFrom(prefix: string): string {
  return prefix.length < longestInterface ? `"${prefix}*"` : `"${prefix}"`;
}

/** nft takes 128 bytes, of which a stamp (kernel-table.ts) needs twelve, and no way to write a quote. */
export function comment(text: string): string {
  return `comment "${cleaned(text)}"`;
}

export function cleaned(text: string): string {
  return text.replace(/[^A-Za-z0-9_./:() -]/g, "?").slice(0, 110);
}

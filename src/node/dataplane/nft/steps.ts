// From a table as it shall be to the next transaction that brings the kernel's one closer to it. Rules change in one transaction: a packet
// takes the rules of one moment. But it asks sets for their elements of whatever moment it comes to them, and the kernel shows it new
// rules before it shows it new elements. So rules and elements never change in one transaction:
//
//   new sets, filled ─▶ everything else ─▶ sets that nobody asks any more go
//
//   rules change, and elements of known sets, too: such a set is made anew under another name, and is a new set
//   only whole endpoints come or go: endpoints go ─▶ elements are added ─▶ elements are removed ─▶ endpoints come
//
// Whatever packet comes in between meets the state before or the state after, as far as it is concerned: what is on its way in or out is
// closed. (An address that moves from one set to another is in both for a moment, never in neither.)
import type { ElementChange } from "./element-keys.ts";
import { stamped } from "./kernel-table.ts";

export type Chain = {
  /** "type filter hook forward priority 0; policy accept;" of a chain that the kernel starts. */
  readonly hook?: string;
  readonly rules: readonly string[];
};

export type Elements = {
  readonly declaration: string;
  readonly elements: Map<string, string>;
  /** Of a map: what is not in it passes nothing. */
  readonly isClosed?: boolean;
};

/** Against what the kernel has. */
export type Change = { readonly added: Set<string>; readonly removed: Set<string> };
type Keys = { readonly added: readonly string[]; readonly removed: readonly string[] };

export type Wanted = {
  /** "inet NAME" */
  readonly in: string;
  readonly chains: ReadonlyMap<string, Chain>;
  readonly sets: ReadonlyMap<string, Elements>;
  readonly maps: ReadonlyMap<string, Elements>;
  readonly dirtyChains: ReadonlySet<string>;
  readonly dirtyElements: ReadonlyMap<string, Change>;
  /** What a set is called in the kernel. */
  readonly nameOf: (set: string) => string;
};

export type Kernel = {
  hasTable: boolean;
  /** It may be asleep: nothing of it is asked. */
  hasFlags: boolean;
  /** Its chains and maps are all made anew. */
  isRemade: boolean;
  readonly chains: Set<string>;
  /** By their names there. */
  readonly sets: Map<string, "set" | "map">;
  /** Sets that nobody wants any more. */
  readonly left: Set<string>;
};

export type Step =
  | {
      readonly is: "transaction";
      readonly text: string;
      /** The same in short, where only elements of sets that are there change. */
      readonly elements?: readonly ElementChange[];
      /** What it settles. */
      readonly chains: readonly string[];
      readonly sets: readonly string[];
      readonly mapKeys: ReadonlyMap<string, Keys>;
      readonly gone: readonly string[];
    }
  | { readonly is: "sets have to be made anew"; readonly sets: readonly string[] };

/**
 * So many elements of a set are deleted one by one; for more it is emptied and filled, which interval sets do far faster. A small set is
 * always emptied and filled: for "delete element" and "add element" nft first reads all elements of all sets (bench/policy: 33 ms where
 * there are 1,000 sets), for "flush set" and "add set" with elements it does not.
 */
const mostSingleDeletions = 200;
const smallSet = 500;
const nothing = { chains: [], sets: [], mapKeys: new Map<string, Keys>(), gone: [] } as const;

/** Undefined: the kernel has everything. */
export function nextStep(wanted: Wanted, kernel: Kernel): Step | undefined {
  // By itself: the kernel takes no chains in the transaction that wakes their table.
  if (kernel.hasFlags) return { is: "transaction", ...nothing, text: text([`add table ${wanted.in}`]) };
  const chains = sorted(wanted, kernel);
  const sets = sortedSets(wanted, kernel);
  const maps = sortedMaps(wanted, kernel);
  const isRuleChanged = chains.changed.length > 0 || maps.isOtherwise || kernel.isRemade;
  const changedSets = [...sets.growing, ...sets.shrinking];
  const hasRules = chains.changed.length + chains.fresh.length + chains.gone.length + maps.keys.size > 0;
  if (isRuleChanged && changedSets.length > 0) return { is: "sets have to be made anew", sets: changedSets };
  if (sets.fresh.length > 0) return setsStep(sets.fresh, wanted, kernel);
  if (changedSets.length > 0) {
    if (chains.gone.length > 0 || [...maps.keys.values()].some(({ removed }) => removed.length > 0))
      return rulesStep({ chains: { ...chains, fresh: [] }, mapKeys: removalsOf(maps.keys) }, wanted, kernel);
    return setsStep(sets.growing.length > 0 ? sets.growing : sets.shrinking, wanted, kernel);
  }
  if (hasRules) return rulesStep({ chains, mapKeys: maps.keys }, wanted, kernel);
  if (kernel.left.size === 0) return undefined;
  const gone = [...kernel.left];
  const lines = gone.map((name) => `delete ${kernel.sets.get(name) ?? "set"} ${wanted.in} ${name}`);
  return { is: "transaction", ...nothing, text: text(lines), gone };
}

type SortedChains = { readonly changed: string[]; readonly fresh: string[]; readonly gone: string[] };

function sorted({ chains, dirtyChains }: Wanted, kernel: Kernel): SortedChains {
  const found: SortedChains = { changed: [], fresh: [], gone: [] };
  for (const name of dirtyChains) {
    const isThere = kernel.chains.has(name);
    if (chains.has(name)) found[isThere ? "changed" : "fresh"].push(name);
    else if (isThere) found.gone.push(name);
  }
  return found;
}

function sortedSets(wanted: Wanted, kernel: Kernel) {
  const found: { readonly fresh: string[]; readonly growing: string[]; readonly shrinking: string[] } = {
    fresh: [],
    growing: [],
    shrinking: [],
  };
  for (const [name, { added, removed }] of wanted.dirtyElements) {
    if (!wanted.sets.has(name)) continue;
    if (!kernel.sets.has(wanted.nameOf(name))) found.fresh.push(name);
    else if (removed.size > 0) found.shrinking.push(name);
    else if (added.size > 0) found.growing.push(name);
  }
  return found;
}

function sortedMaps(wanted: Wanted, kernel: Kernel) {
  const keys = new Map<string, Keys>();
  let isOtherwise = false;
  for (const [name, { added, removed }] of wanted.dirtyElements) {
    const map = wanted.maps.get(name);
    if (map === undefined) continue;
    const isThere = kernel.sets.has(name) && !kernel.isRemade;
    if (isThere && added.size + removed.size === 0) continue;
    keys.set(name, { added: [...added], removed: [...removed] });
    // One that leads elsewhere, or that opens when it goes.
    if (isThere && (map.isClosed !== true || added.intersection(removed).size > 0)) isOtherwise = true;
  }
  return { keys, isOtherwise };
}

function removalsOf(keys: ReadonlyMap<string, Keys>): ReadonlyMap<string, Keys> {
  return new Map(
    [...keys].flatMap(([name, { removed }]) => (removed.length === 0 ? [] : [[name, { added: [], removed }] as const])),
  );
}

function setsStep(names: readonly string[], wanted: Wanted, kernel: Kernel): Step {
  const lines = names.flatMap((name) => setLines(name, wanted, kernel));
  const before = making(wanted, kernel);
  const elements = before.length > 0 ? undefined : elementsOf(names, wanted, kernel);
  const said = elements === undefined ? {} : { elements };
  return { is: "transaction", ...nothing, text: text([...before, ...lines]), sets: names, ...said };
}

function setLines(name: string, wanted: Wanted, kernel: Kernel): readonly string[] {
  const { in: table, nameOf, sets, dirtyElements } = wanted;
  const set = sets.get(name);
  if (set === undefined) return [];
  const there = nameOf(name);
  const { added = new Set<string>(), removed = new Set<string>() } = dirtyElements.get(name) ?? {};
  const add = (keys: Iterable<string>) => `add set ${table} ${there} { ${set.declaration} ${filled(set, keys)} }`;
  if (!kernel.sets.has(there)) return [add(set.elements.keys())];
  if (isFilledAnew(set, removed))
    return [`flush set ${table} ${there}`, ...(set.elements.size === 0 ? [] : [add(set.elements.keys())])];
  return [
    ...(removed.size === 0 ? [] : [`delete element ${table} ${there} { ${[...removed].join(", ")} }`]),
    ...(added.size === 0 ? [] : [add(added)]),
  ];
}

function isFilledAnew({ elements }: Elements, removed: ReadonlySet<string>): boolean {
  return removed.size > mostSingleDeletions || (removed.size > 0 && elements.size <= smallSet);
}

/** The lines of sets above, as long as all of them are there and none has single elements deleted. */
function elementsOf(names: readonly string[], wanted: Wanted, kernel: Kernel): readonly ElementChange[] | undefined {
  const found: ElementChange[] = [];
  for (const name of names) {
    const set = wanted.sets.get(name);
    const there = wanted.nameOf(name);
    const change = wanted.dirtyElements.get(name);
    if (set === undefined || change === undefined || !kernel.sets.has(there)) return undefined;
    const isEmptied = isFilledAnew(set, change.removed);
    if (change.removed.size > 0 && !isEmptied) return undefined;
    const added = [...(isEmptied ? set.elements.keys() : change.added)];
    const startsEmpty = isEmptied || set.elements.size === added.length;
    found.push({ set: there, declaration: set.declaration, isEmptied, startsEmpty, added });
  }
  return found;
}

/** Everything but sets: what is asked is there, what is led to is there, what is led away from goes. */
function rulesStep(
  {
    chains: { changed, fresh, gone },
    mapKeys,
  }: { readonly chains: SortedChains; readonly mapKeys: ReadonlyMap<string, Keys> },
  wanted: Wanted,
  kernel: Kernel,
): Step {
  const { in: table, maps, chains } = wanted;
  const lines = [...making(wanted, kernel)];
  const isMade = (name: string) => kernel.isRemade || !kernel.chains.has(name);
  for (const name of [...changed, ...gone]) lines.push(`flush chain ${table} ${name}`);
  if (kernel.isRemade) {
    for (const [name, is] of kernel.sets) if (maps.has(name)) lines.push(`delete ${is} ${table} ${name}`);
    for (const name of [...changed, ...gone]) lines.push(`delete chain ${table} ${name}`);
  }
  for (const name of [...changed, ...fresh]) {
    const hook = chains.get(name)?.hook;
    if (isMade(name)) lines.push(`add chain ${table} ${name}${hook === undefined ? "" : ` { ${hook} }`}`);
  }
  for (const name of mapKeys.keys())
    if (kernel.isRemade || !kernel.sets.has(name))
      lines.push(`add map ${table} ${name} { ${maps.get(name)?.declaration} }`);
  for (const name of [...changed, ...fresh])
    for (const rule of chains.get(name)?.rules ?? [])
      lines.push(`add rule ${table} ${name} ${stamped(physicalRule(rule, wanted))}`);
  for (const [name, keys] of mapKeys) lines.push(...mapLines(name, keys, wanted, kernel));
  if (!kernel.isRemade) for (const name of gone) lines.push(`delete chain ${table} ${name}`);
  return { is: "transaction", ...nothing, text: text(lines), chains: [...changed, ...fresh, ...gone], mapKeys };
}

function mapLines(name: string, { added, removed }: Keys, wanted: Wanted, kernel: Kernel): readonly string[] {
  const { in: table, maps, dirtyElements } = wanted;
  const map = maps.get(name);
  if (map === undefined) return [];
  const add = (keys: readonly string[]) =>
    keys.length === 0 ? [] : [`add map ${table} ${name} { ${map.declaration} ${filled(map, keys)} }`];
  if (removed.length === 0 || kernel.isRemade) return add(added);
  if (map.elements.size > smallSet) return [`delete element ${table} ${name} { ${removed.join(", ")} }`, ...add(added)];
  const now = new Set(added);
  const later = dirtyElements.get(name)?.added;
  const kept = [...map.elements.keys()].filter((key) => now.has(key) || later?.has(key) !== true);
  return [`flush map ${table} ${name}`, ...add(kept)];
}

/** "create": should it be there after all, it is not what we believe. */
function making({ in: table }: Wanted, { hasTable }: Kernel): readonly string[] {
  return hasTable ? [] : [`create table ${table}`];
}

/** With the names that sets have in the kernel. */
export function physicalRule(rule: string, { nameOf, sets }: Pick<Wanted, "nameOf" | "sets">): string {
  if (!rule.includes("@")) return rule;
  return rule.replace(/@([\w-]+)/g, (asked, name: string) => (sets.has(name) ? `@${nameOf(name)}` : asked));
}

function filled({ elements }: Elements, keys: Iterable<string>): string {
  const listed = [...keys].map((key) => elementText(key, elements.get(key) ?? "")).join(", ");
  return listed === "" ? "" : `elements = { ${listed} }`;
}

function elementText(key: string, value: string): string {
  return value === "" ? key : `${key} : ${value}`;
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

// Our table as it shall be, and the transactions that make the kernel's one equal to it. Whoever builds it says what a chain, a set or a
// map shall hold; what is not said again stays. Rules change in one transaction: packets see the old ones or the new ones, never half of
// each. Of sets that is not true (below), so those that come or go have transactions of their own:
//
//   new sets, filled  ─▶  everything else  ─▶  sets that nobody asks any more go
import { type KernelTable, stamped, stampOf } from "./kernel-table.ts";
import { tableName } from "./names.ts";

export type Chain = {
  /** "type filter hook forward priority 0; policy accept;" of a chain that the kernel starts. */
  readonly hook?: string;
  readonly rules: readonly string[];
};

type Elements = {
  readonly declaration: string;
  readonly elements: Map<string, string>;
};

/** Against what the kernel has. */
type Change = { readonly added: Set<string>; readonly removed: Set<string> };

export type Transaction = { readonly text: string; readonly taken: () => void };

/**
 * So many elements of a set are deleted one by one; for more it is emptied and filled, which interval sets do far faster. A small set is
 * always emptied and filled: for "delete element" and "add element" nft first reads all elements of all sets (bench/policy: 33 ms where
 * there are 1,000 sets), for "flush set" and "add set" with elements it does not.
 */
const mostSingleDeletions = 200;
const smallSet = 500;
const in_ = `inet ${tableName}`;

export class NftRuleset {
  readonly #chains = new Map<string, Chain>();
  readonly #sets = new Map<string, Elements>();
  readonly #maps = new Map<string, Elements>();
  /** What the kernel has is not known, or not worth knowing: the next transaction makes the table anew. */
  #isFirst = true;
  readonly #chainsInKernel = new Set<string>();
  readonly #setsInKernel = new Map<string, "set" | "map">();
  /** Sets that nobody needs any more stay for one more transaction. */
  #isGoingLater = false;
  /** The sets that the last transaction consists of, where they go before the rules that ask them. */
  #goingAhead: readonly string[] = [];
  readonly #dirtyChains = new Set<string>();
  readonly #dirtyElements = new Map<string, Change>();

  setChain(name: string, chain: Chain): void {
    const before = this.#chains.get(name);
    if (before !== undefined && before.hook === chain.hook && isEqual(before.rules, chain.rules)) return;
    this.#chains.set(name, chain);
    this.#dirtyChains.add(name);
  }

  removeChain(name: string): void {
    if (this.#chains.delete(name)) this.#dirtyChains.add(name);
  }

  hasChain(name: string): boolean {
    return this.#chains.has(name);
  }

  /** Elements are keys, with "" as their value in a set. */
  declareSet(name: string, declaration: string): void {
    this.#declare(this.#sets, name, declaration);
  }

  declareMap(name: string, declaration: string): void {
    this.#declare(this.#maps, name, declaration);
  }

  removeSet(name: string): void {
    const known = this.#sets.get(name);
    if (known === undefined) return;
    // Should it come back before the next transaction, the kernel's elements are those that it had.
    for (const key of [...known.elements.keys()]) this.#setElement(name, key, undefined);
    this.#sets.delete(name);
    this.#changeOf(name);
  }

  changeElements(
    name: string,
    { added, removed }: { readonly added: Iterable<string>; readonly removed: Iterable<string> },
  ): void {
    for (const key of removed) this.#setElement(name, key, undefined);
    for (const key of added) this.#setElement(name, key, "");
  }

  setMapElement(name: string, key: string, value: string | undefined): void {
    this.#setElement(name, key, value);
  }

  elements(name: string): ReadonlyMap<string, string> {
    return this.#of(name)?.elements ?? new Map();
  }

  chain(name: string): Chain | undefined {
    return this.#chains.get(name);
  }

  declarationOf(name: string): string | undefined {
    return this.#of(name)?.declaration;
  }

  get counts(): { readonly chains: number; readonly rules: number; readonly sets: number; readonly elements: number } {
    let rules = 0;
    for (const chain of this.#chains.values()) rules += chain.rules.length;
    let elements = 0;
    for (const set of this.#sets.values()) elements += set.elements.size;
    return { chains: this.#chains.size, rules, sets: this.#sets.size, elements };
  }

  /** Undefined: the kernel has everything. `taken` is to be called when the kernel has taken it. */
  transaction(): Transaction | undefined {
    if (!this.#isFirst && this.#dirtyChains.size + this.#dirtyElements.size === 0) return undefined;
    const text = this.#isFirst ? this.#everything() : this.#difference();
    return { text, taken: () => this.#settle() };
  }

  /** The kernel's state is not known: the next transaction puts all of it in its place. */
  startAgain(): void {
    this.#isFirst = true;
    this.#chainsInKernel.clear();
    this.#setsInKernel.clear();
  }

  /**
   * This is in the kernel: the next transaction is the difference to it. False: it is so different that the table has to be made anew
   * (another kind of set, a chain at another hook), which the next transaction does.
   */
  adopt(table: KernelTable): boolean {
    this.startAgain();
    if (!this.#canBeChanged(table)) return false;
    this.#isFirst = false;
    this.#dirtyChains.clear();
    this.#dirtyElements.clear();
    for (const [name, { stamps }] of table.chains) {
      this.#chainsInKernel.add(name);
      const wanted = this.#chains.get(name);
      if (wanted === undefined || !isEqual(wanted.rules.map(stampOf), stamps)) this.#dirtyChains.add(name);
    }
    for (const name of this.#chains.keys()) if (!table.chains.has(name)) this.#dirtyChains.add(name);
    for (const [name, { is, elements }] of table.sets) {
      this.#setsInKernel.set(name, is);
      this.#compareElements(name, elements);
    }
    for (const name of [...this.#sets.keys(), ...this.#maps.keys()]) if (!table.sets.has(name)) this.#changeOf(name);
    return true;
  }

  #canBeChanged({ chains, sets }: KernelTable): boolean {
    for (const [name, { isHooked }] of chains) {
      const wanted = this.#chains.get(name);
      if (isHooked !== (wanted?.hook !== undefined)) return false;
    }
    for (const [name, { is, declaration }] of sets) {
      const wanted = this.#of(name);
      if (is === "map" && wanted === undefined) return false;
      if (wanted !== undefined && wanted.declaration !== declaration) return false;
    }
    return true;
  }

  #compareElements(name: string, kernel: ReadonlyMap<string, string>): void {
    const wanted = this.#of(name)?.elements ?? new Map<string, string>();
    const removed = [...kernel].flatMap(([key, value]) => (wanted.get(key) === value ? [] : [key]));
    const added = [...wanted].flatMap(([key, value]) => (kernel.get(key) === value ? [] : [key]));
    if (removed.length + added.length === 0 && this.#of(name) !== undefined) return;
    const change = this.#changeOf(name);
    for (const key of removed) change.removed.add(key);
    for (const key of added) change.added.add(key);
  }

  #declare(where: Map<string, Elements>, name: string, declaration: string): void {
    if (where.has(name)) return;
    where.set(name, { declaration, elements: new Map() });
    this.#changeOf(name);
  }

  #changeOf(name: string): Change {
    const known = this.#dirtyElements.get(name);
    if (known !== undefined) return known;
    const change = { added: new Set<string>(), removed: new Set<string>() };
    this.#dirtyElements.set(name, change);
    return change;
  }

  #of(name: string): Elements | undefined {
    return this.#sets.get(name) ?? this.#maps.get(name);
  }

  #setElement(name: string, key: string, value: string | undefined): void {
    const known = this.#of(name);
    if (known === undefined || known.elements.get(key) === value) return;
    const change = this.#changeOf(name);
    if (known.elements.has(key)) {
      known.elements.delete(key);
      if (!change.added.delete(key)) change.removed.add(key);
    }
    if (value === undefined) return;
    known.elements.set(key, value);
    change.added.add(key);
  }

  #everything(): string {
    // "add" before "delete": deleting a table that is not there would be an error.
    const lines = [`add table ${in_}`, `delete table ${in_}`, `table ${in_} {`];
    for (const [name, { declaration, elements }] of this.#sets)
      lines.push(`  set ${name} { ${declaration} ${filled(elements)} }`);
    // A chain that the kernel starts cannot be declared without its hook first.
    for (const [name, { hook }] of this.#chains) if (hook === undefined) lines.push(`  chain ${name} {}`);
    for (const [name, { declaration, elements }] of this.#maps)
      lines.push(`  map ${name} { ${declaration} ${filled(elements)} }`);
    lines.push("}", `table ${in_} {`);
    for (const [name, { hook, rules }] of this.#chains) {
      lines.push(`  chain ${name} {`);
      if (hook !== undefined) lines.push(`    ${hook}`);
      for (const rule of rules) lines.push(`    ${stamped(rule)}`);
      lines.push("  }");
    }
    lines.push("}");
    return `${lines.join("\n")}\n`;
  }

  #difference(): string {
    const lines: { readonly [at in Place]: string[] } = { fresh: [], sets: [], maps: [], gone: [] };
    for (const [name, change] of this.#dirtyElements) this.#differenceOf(name, change, lines);
    const made: string[] = [];
    const filledChains: string[] = [];
    const gone: string[] = [];
    for (const name of this.#dirtyChains) {
      const chain = this.#chains.get(name);
      const isThere = this.#chainsInKernel.has(name);
      if (isThere) filledChains.push(`flush chain ${in_} ${name}`);
      if (chain === undefined) {
        if (isThere) gone.push(`delete chain ${in_} ${name}`);
        continue;
      }
      if (!isThere) made.push(`add chain ${in_} ${name}${chain.hook === undefined ? "" : ` { ${chain.hook} }`}`);
      for (const rule of chain.rules) filledChains.push(`add rule ${in_} ${name} ${stamped(rule)}`);
    }
    const rest = [...lines.sets, ...made, ...filledChains, ...lines.maps, ...gone];
    // The kernel lets packets into new rules a moment before it lets them find the elements of interval sets: rules that ask a new set
    // come with the transaction after it.
    this.#goingAhead = [];
    if (lines.fresh.length > 0 && rest.length > 0) {
      this.#goingAhead = [...this.#dirtyElements.keys()].filter((name) => this.#isFresh(name));
      return `${lines.fresh.join("\n")}\n`;
    }
    const before = [...lines.fresh, ...rest];
    // A packet takes the rules of one generation, but asks a set for its elements of the moment: a set goes only when no packet can be
    // in rules that ask it, which is with the transaction after.
    this.#isGoingLater = before.length > 0 && lines.gone.length > 0;
    return `${(this.#isGoingLater ? before : [...before, ...lines.gone]).join("\n")}\n`;
  }

  #differenceOf(name: string, { added, removed }: Change, lines: { readonly [at in Place]: string[] }): void {
    const known = this.#of(name);
    const inKernel = this.#setsInKernel.get(name);
    if (known === undefined) {
      if (inKernel !== undefined) lines.gone.push(`delete ${inKernel} ${in_} ${name}`);
      return;
    }
    const kind = this.#maps.has(name) ? "map" : "set";
    const into = lines[kind === "map" ? "maps" : this.#isFresh(name) ? "fresh" : "sets"];
    const add = (keys: Iterable<string>) =>
      into.push(`add ${kind} ${in_} ${name} { ${known.declaration} elements = { ${listed(known, keys)} } }`);
    if (inKernel === undefined) {
      // A map has to be there before a rule asks it, its elements after the chains that they lead to.
      if (kind === "map" || known.elements.size === 0)
        lines[kind === "map" ? "sets" : "fresh"].push(`add ${kind} ${in_} ${name} { ${known.declaration} }`);
      if (known.elements.size > 0) add(known.elements.keys());
      return;
    }
    const isFilledAnew = removed.size > mostSingleDeletions || (removed.size > 0 && known.elements.size <= smallSet);
    if (isFilledAnew) {
      into.push(`flush ${kind} ${in_} ${name}`);
      if (known.elements.size > 0) add(known.elements.keys());
      return;
    }
    if (removed.size > 0) into.push(`delete element ${in_} ${name} { ${[...removed].join(", ")} }`);
    if (added.size > 0) add(added);
  }

  #settle(): void {
    const wasFirst = this.#isFirst;
    this.#isFirst = false;
    if (!wasFirst && this.#goingAhead.length > 0) {
      for (const name of this.#goingAhead) {
        this.#setsInKernel.set(name, "set");
        this.#dirtyElements.delete(name);
      }
      return;
    }
    const chains = wasFirst ? this.#chains.keys() : this.#dirtyChains;
    for (const name of chains) {
      if (this.#chains.has(name)) this.#chainsInKernel.add(name);
      else this.#chainsInKernel.delete(name);
    }
    const sets = wasFirst ? [...this.#sets.keys(), ...this.#maps.keys()] : [...this.#dirtyElements.keys()];
    const later = wasFirst || !this.#isGoingLater ? [] : [...sets].filter((name) => this.#isLeft(name));
    for (const name of sets) {
      if (later.includes(name)) continue;
      if (this.#of(name) === undefined) this.#setsInKernel.delete(name);
      else this.#setsInKernel.set(name, this.#maps.has(name) ? "map" : "set");
    }
    this.#dirtyChains.clear();
    // Should one come back before it has gone, it is known what it holds.
    for (const name of [...this.#dirtyElements.keys()]) if (!later.includes(name)) this.#dirtyElements.delete(name);
  }

  /** No rule in the kernel can ask it. */
  #isFresh(name: string): boolean {
    return this.#sets.has(name) && !this.#setsInKernel.has(name);
  }

  #isLeft(name: string): boolean {
    return this.#of(name) === undefined && this.#setsInKernel.has(name);
  }
}

/** Where in a transaction a change of elements stands. */
type Place = "fresh" | "sets" | "maps" | "gone";

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

export function listed(
  { elements }: { readonly elements: ReadonlyMap<string, string> },
  keys: Iterable<string>,
): string {
  return [...keys].map((key) => elementText(key, elements.get(key) ?? "")).join(", ");
}

export function filled(elements: ReadonlyMap<string, string>): string {
  if (elements.size === 0) return "";
  return `elements = { ${listed({ elements }, elements.keys())} }`;
}

function elementText(key: string, value: string): string {
  return value === "" ? key : `${key} : ${value}`;
}

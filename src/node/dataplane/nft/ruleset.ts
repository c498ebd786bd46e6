// One table as it shall be, and the transactions that make the kernel's one equal to it. Whoever builds it says what a chain, a set or a
// map shall hold; what is not said again stays. Which transactions it takes, so that no packet sees half of a change, is in steps.ts.
import type { ElementChange } from "./element-keys.ts";
import { type KernelTable, stampOf } from "./kernel-table.ts";
import { type Family, tableName } from "./names.ts";
import {
  type Chain,
  type Change,
  type Elements,
  type Kernel,
  nextStep,
  physicalRule,
  type Step,
  type Wanted,
} from "./steps.ts";

export type { Chain } from "./steps.ts";

export type Transaction = {
  readonly text: string;
  /** The same in short, where only elements of sets that are there change. */
  readonly elements?: readonly ElementChange[];
  readonly taken: () => void;
};

export class NftRuleset {
  readonly #chains = new Map<string, Chain>();
  readonly #sets = new Map<string, Elements>();
  readonly #maps = new Map<string, Elements>();
  /** Which chains ask a set, by its name. */
  readonly #askers = new Map<string, Set<string>>();
  readonly #asked = new Map<string, ReadonlySet<string>>();
  /** How often a set was made anew: its name in the kernel ends with this number. */
  readonly #generations = new Map<string, number>();
  readonly #dirtyChains = new Set<string>();
  readonly #dirtyElements = new Map<string, Change>();
  readonly #kernel: Kernel = {
    ...{ hasTable: false, hasFlags: false, isRemade: false },
    ...{ chains: new Set<string>(), sets: new Map<string, "set" | "map">(), left: new Set<string>() },
  };
  readonly #wanted: Wanted;

  constructor(family: Family = "inet") {
    this.#wanted = {
      in: `${family} ${tableName}`,
      chains: this.#chains,
      sets: this.#sets,
      maps: this.#maps,
      dirtyChains: this.#dirtyChains,
      dirtyElements: this.#dirtyElements,
      nameOf: (set) => this.#nameOf(set),
    };
  }

  setChain(name: string, chain: Chain): void {
    const before = this.#chains.get(name);
    if (before !== undefined && before.hook === chain.hook && isEqual(before.rules, chain.rules)) return;
    this.#chains.set(name, chain);
    this.#dirtyChains.add(name);
    this.#asks(name, chain.rules);
  }

  removeChain(name: string): void {
    if (!this.#chains.delete(name)) return;
    if (this.#kernel.chains.has(name)) this.#dirtyChains.add(name);
    else this.#dirtyChains.delete(name);
    this.#asks(name, []);
  }

  hasChain(name: string): boolean {
    return this.#chains.has(name);
  }

  /** Elements are keys, with "" as their value in a set. */
  declareSet(name: string, declaration: string): void {
    if (this.#sets.has(name)) return;
    this.#sets.set(name, { declaration, elements: new Map() });
    // One of this name may still be in the kernel, on its way out, with whatever it held.
    while (this.#kernel.sets.has(this.#nameOf(name))) this.#renew(name);
    this.#changeOf(name);
  }

  /** "closed": what is not in it passes nothing. */
  declareMap(name: string, declaration: string, is: "closed" | "open" = "open"): void {
    if (this.#maps.has(name)) return;
    this.#maps.set(name, { declaration, elements: new Map(), isClosed: is === "closed" });
    this.#changeOf(name);
  }

  removeSet(name: string): void {
    if (!this.#sets.delete(name)) return;
    this.#dirtyElements.delete(name);
    const there = this.#nameOf(name);
    if (this.#kernel.sets.has(there)) this.#kernel.left.add(there);
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

  get counts(): { readonly [of in "chains" | "rules" | "sets" | "maps" | "elements"]: number } {
    let rules = 0;
    for (const chain of this.#chains.values()) rules += chain.rules.length;
    let elements = 0;
    for (const set of this.#sets.values()) elements += set.elements.size;
    return { chains: this.#chains.size, rules, sets: this.#sets.size, maps: this.#maps.size, elements };
  }

  /** Undefined: the kernel has everything. `taken` is to be called when the kernel has taken it; then there may be another one. */
  transaction(): Transaction | undefined {
    let step = nextStep(this.#wanted, this.#kernel);
    if (step?.is === "sets have to be made anew") {
      for (const name of step.sets) this.#makeAnew(name);
      step = nextStep(this.#wanted, this.#kernel);
    }
    if (step?.is !== "transaction") return undefined;
    const { text, elements } = step;
    const settled: Step & { readonly is: "transaction" } = step;
    return { text, ...(elements === undefined ? {} : { elements }), taken: () => this.#settle(settled) };
  }

  /** The kernel has no such table. */
  startAgain(): void {
    const { chains, sets, left } = this.#kernel;
    Object.assign(this.#kernel, { hasTable: false, hasFlags: false, isRemade: false });
    for (const known of [chains, sets, left, this.#generations]) known.clear();
    this.#dirtyChains.clear();
    this.#dirtyElements.clear();
    for (const name of this.#chains.keys()) this.#dirtyChains.add(name);
    for (const name of [...this.#sets.keys(), ...this.#maps.keys()]) this.#compareElements(name, new Map());
  }

  /**
   * This is in the kernel: the next transactions are the difference to it. Where a name is taken by something else (another kind of map, a
   * chain at another hook or with another policy), or the kernel refused the difference before (`isRemade`), all chains and maps are made
   * anew; sets go ahead of them.
   */
  adopt(table: KernelTable, { isRemade = false }: { readonly isRemade?: boolean } = {}): void {
    this.startAgain();
    const { hasFlags } = table;
    Object.assign(this.#kernel, { hasTable: true, hasFlags, isRemade: isRemade || !this.#canBeChanged(table) });
    for (const name of table.chains.keys()) this.#kernel.chains.add(name);
    for (const [name, { is }] of table.sets) this.#kernel.sets.set(name, is);
    this.#adoptSets(table);
    // What is still dirty after this is the difference. Sets come first: a rule's text has the name of the set that it asks.
    for (const name of table.chains.keys()) this.#dirtyChains.add(name);
    if (this.#kernel.isRemade) return;
    for (const [name, { stamps }] of table.chains) {
      const rules = this.#chains.get(name)?.rules.map((rule) => physicalRule(rule, this.#wanted));
      if (rules !== undefined && isEqual(rules.map(stampOf), stamps)) this.#dirtyChains.delete(name);
    }
  }

  #adoptSets(table: KernelTable): void {
    for (const name of this.#maps.keys()) {
      const there = this.#kernel.isRemade ? undefined : table.sets.get(name);
      if (there !== undefined) this.#compareElements(name, there.elements);
    }
    for (const [there, { is, declaration, elements }] of table.sets) {
      if (this.#maps.has(there)) continue;
      const { name, generation } = readName(there);
      const wanted = this.#sets.get(name);
      const isUsable = is === "set" && wanted?.declaration === declaration;
      const current = this.#generations.get(name);
      // Of two (the last run was killed between two transactions) one is enough: whoever asks the other one is changed.
      if (!isUsable || (current !== undefined && current > generation)) {
        this.#kernel.left.add(there);
        continue;
      }
      if (current !== undefined) this.#kernel.left.add(this.#nameOf(name));
      this.#generations.set(name, generation);
      this.#compareElements(name, elements);
    }
    for (const name of this.#sets.keys()) while (this.#kernel.left.has(this.#nameOf(name))) this.#renew(name);
  }

  #canBeChanged({ chains, sets }: KernelTable): boolean {
    for (const [name, { hook }] of chains) {
      const wanted = this.#chains.get(name);
      if (wanted !== undefined && hook !== wanted.hook) return false;
    }
    for (const [name, wanted] of this.#maps) {
      const there = sets.get(name);
      if (there !== undefined && (there.is !== "map" || there.declaration !== wanted.declaration)) return false;
    }
    return true;
  }

  #compareElements(name: string, kernel: ReadonlyMap<string, string>): void {
    this.#dirtyElements.delete(name);
    const wanted = this.#of(name)?.elements ?? new Map<string, string>();
    const removed = [...kernel].flatMap(([key, value]) => (wanted.get(key) === value ? [] : [key]));
    const added = [...wanted].flatMap(([key, value]) => (kernel.get(key) === value ? [] : [key]));
    if (this.#isThere(name) && removed.length + added.length === 0) return;
    this.#dirtyElements.set(name, { added: new Set(added), removed: new Set(removed) });
  }

  #isThere(name: string): boolean {
    return this.#kernel.sets.has(this.#sets.has(name) ? this.#nameOf(name) : name);
  }

  /** Under another name, filled before a rule asks it; whoever asks the old one is changed. */
  #makeAnew(name: string): void {
    this.#kernel.left.add(this.#nameOf(name));
    while (this.#kernel.sets.has(this.#nameOf(name))) this.#renew(name);
    this.#compareElements(name, new Map());
    for (const chain of this.#askers.get(name) ?? []) this.#dirtyChains.add(chain);
  }

  #renew(name: string): void {
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
  }

  #nameOf(set: string): string {
    const generation = this.#generations.get(set) ?? 0;
    return generation === 0 ? set : `${set}.${generation}`;
  }

  #asks(chain: string, rules: readonly string[]): void {
    const now = new Set<string>();
    for (const rule of rules)
      if (rule.includes("@")) for (const [, name] of rule.matchAll(/@([\w-]+)/g)) if (name !== undefined) now.add(name);
    for (const name of this.#asked.get(chain) ?? []) if (!now.has(name)) this.#askers.get(name)?.delete(chain);
    for (const name of now) this.#askers.set(name, (this.#askers.get(name) ?? new Set()).add(chain));
    if (now.size === 0) this.#asked.delete(chain);
    else this.#asked.set(chain, now);
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

  #settle({ chains, sets, mapKeys, gone }: Step & { readonly is: "transaction" }): void {
    Object.assign(this.#kernel, { hasTable: true, hasFlags: false });
    for (const name of chains) {
      this.#dirtyChains.delete(name);
      if (this.#chains.has(name)) this.#kernel.chains.add(name);
      else this.#kernel.chains.delete(name);
    }
    for (const name of sets) {
      this.#dirtyElements.delete(name);
      this.#kernel.sets.set(this.#nameOf(name), "set");
    }
    for (const [name, { added, removed }] of mapKeys) {
      this.#kernel.sets.set(name, "map");
      const change = this.#changeOf(name);
      for (const key of added) change.added.delete(key);
      for (const key of removed) change.removed.delete(key);
      if (change.added.size + change.removed.size === 0) this.#dirtyElements.delete(name);
    }
    for (const name of gone) {
      this.#kernel.sets.delete(name);
      this.#kernel.left.delete(name);
    }
    // Only chains and maps are made anew, and they are in one transaction.
    if (mapKeys.size > 0 || chains.length > 0) this.#kernel.isRemade = false;
  }
}

/** "set4-0123.2" is set4-0123, made anew twice. */
function readName(there: string): { readonly name: string; readonly generation: number } {
  const [, name, number] = /^(.+)\.(\d{1,9})$/.exec(there) ?? [];
  return name === undefined ? { name: there, generation: 0 } : { name, generation: Number(number) };
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

// Our table as it shall be, and the transaction that makes the kernel's one equal to it. Whoever builds it says what a chain, a set or a
// map shall hold; what is not said again stays. One transaction holds everything that changed since the last one that the kernel took:
// packets see the old rules or the new ones, never half of each.
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

type Change = { readonly added: Set<string>; readonly removed: Set<string> };

/** So many elements of a set are changed one by one; for more it is emptied and filled, which interval sets do far faster. */
const mostSingleChanges = 200;

export class NftRuleset {
  readonly #chains = new Map<string, Chain>();
  readonly #sets = new Map<string, Elements>();
  readonly #maps = new Map<string, Elements>();
  /** What the kernel has, as far as we know: nothing until the first transaction is taken. */
  #isFirst = true;
  readonly #chainsInKernel = new Set<string>();
  readonly #setsInKernel = new Set<string>();
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
    if (!this.#sets.delete(name)) return;
    this.#dirtyElements.set(name, { added: new Set(), removed: new Set() });
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

  elements(name: string): readonly string[] {
    return [...(this.#of(name)?.elements.keys() ?? [])];
  }

  /** Undefined: the kernel has everything. `taken` is to be called when the kernel has taken it. */
  transaction(): { readonly text: string; readonly taken: () => void } | undefined {
    if (!this.#isFirst && this.#dirtyChains.size + this.#dirtyElements.size === 0) return undefined;
    const text = this.#isFirst ? this.#everything() : this.#difference();
    return { text, taken: () => this.#settle() };
  }

  /** Somebody has changed our table, or the kernel's state is not known: the next transaction puts all of it in its place. */
  startAgain(): void {
    this.#isFirst = true;
    this.#chainsInKernel.clear();
    this.#setsInKernel.clear();
  }

  #declare(where: Map<string, Elements>, name: string, declaration: string): void {
    if (where.has(name)) return;
    where.set(name, { declaration, elements: new Map() });
    this.#dirtyElements.set(name, { added: new Set(), removed: new Set() });
  }

  #of(name: string): Elements | undefined {
    return this.#sets.get(name) ?? this.#maps.get(name);
  }

  #setElement(name: string, key: string, value: string | undefined): void {
    const known = this.#of(name);
    if (known === undefined || known.elements.get(key) === value) return;
    const change = this.#dirtyElements.get(name) ?? { added: new Set(), removed: new Set() };
    this.#dirtyElements.set(name, change);
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
    const lines = [`add table inet ${tableName}`, `delete table inet ${tableName}`, `table inet ${tableName} {`];
    for (const [name, { declaration, elements }] of this.#sets)
      lines.push(`  set ${name} { ${declaration} ${filled(elements)} }`);
    for (const name of this.#chains.keys()) lines.push(`  chain ${name} {}`);
    for (const [name, { declaration, elements }] of this.#maps)
      lines.push(`  map ${name} { ${declaration} ${filled(elements)} }`);
    lines.push("}", `table inet ${tableName} {`);
    for (const [name, { hook, rules }] of this.#chains)
      lines.push(
        `  chain ${name} {`,
        ...(hook === undefined ? [] : [`    ${hook}`]),
        ...rules.map((rule) => `    ${rule}`),
        "  }",
      );
    lines.push("}");
    // A chain that the kernel starts cannot be declared without its hook first.
    return `${withoutEmptyHooks(lines, this.#chains).join("\n")}\n`;
  }

  #difference(): string {
    const in_ = `inet ${tableName}`;
    const first: string[] = [];
    const last: string[] = [];
    for (const [name, change] of this.#dirtyElements) this.#differenceOf(name, change, { first, last });
    const chains = [...this.#dirtyChains].map((name) => ({ name, chain: this.#chains.get(name) }));
    const made = chains.flatMap(({ name, chain }) => {
      if (chain === undefined || this.#chainsInKernel.has(name)) return [];
      return [`add chain ${in_} ${name}${chain.hook === undefined ? "" : ` { ${chain.hook} }`}`];
    });
    const filledChains = chains.flatMap(({ name, chain }) => {
      if (chain === undefined) return this.#chainsInKernel.has(name) ? [`flush chain ${in_} ${name}`] : [];
      return [`flush chain ${in_} ${name}`, ...chain.rules.map((rule) => `add rule ${in_} ${name} ${rule}`)];
    });
    const gone = chains.flatMap(({ name, chain }) =>
      chain === undefined && this.#chainsInKernel.has(name) ? [`delete chain ${in_} ${name}`] : [],
    );
    const maps = first.filter((line) => / element \S+ \S+ map-/.test(line));
    const sets = first.filter((line) => !maps.includes(line));
    return `${[...sets, ...made, ...filledChains, ...maps, ...gone, ...last].join("\n")}\n`;
  }

  #differenceOf(
    name: string,
    { added, removed }: Change,
    { first, last }: { readonly first: string[]; readonly last: string[] },
  ): void {
    const in_ = `inet ${tableName}`;
    const known = this.#of(name);
    if (known === undefined) {
      if (this.#setsInKernel.has(name)) last.push(`delete set ${in_} ${name}`);
      return;
    }
    const list = (keys: Iterable<string>) =>
      [...keys].map((key) => elementText(key, known.elements.get(key) ?? "")).join(", ");
    if (!this.#setsInKernel.has(name)) {
      first.push(`add ${this.#sets.has(name) ? "set" : "map"} ${in_} ${name} { ${known.declaration} }`);
      if (known.elements.size > 0) first.push(`add element ${in_} ${name} { ${list(known.elements.keys())} }`);
      return;
    }
    if (removed.size > mostSingleChanges) {
      first.push(`flush set ${in_} ${name}`);
      if (known.elements.size > 0) first.push(`add element ${in_} ${name} { ${list(known.elements.keys())} }`);
      return;
    }
    if (removed.size > 0) first.push(`delete element ${in_} ${name} { ${[...removed].join(", ")} }`);
    if (added.size > 0) first.push(`add element ${in_} ${name} { ${list(added)} }`);
  }

  #settle(): void {
    this.#isFirst = false;
    this.#dirtyChains.clear();
    this.#dirtyElements.clear();
    this.#chainsInKernel.clear();
    this.#setsInKernel.clear();
    for (const name of this.#chains.keys()) this.#chainsInKernel.add(name);
    for (const name of [...this.#sets.keys(), ...this.#maps.keys()]) this.#setsInKernel.add(name);
  }
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

function filled(elements: ReadonlyMap<string, string>): string {
  if (elements.size === 0) return "";
  return `elements = { ${[...elements].map(([key, value]) => elementText(key, value)).join(", ")} }`;
}

function elementText(key: string, value: string): string {
  return value === "" ? key : `${key} : ${value}`;
}

function withoutEmptyHooks(lines: readonly string[], chains: ReadonlyMap<string, Chain>): readonly string[] {
  return lines.filter((line) => {
    const name = /^ {2}chain (\S+) \{\}$/.exec(line)?.[1];
    return name === undefined || chains.get(name)?.hook === undefined;
  });
}

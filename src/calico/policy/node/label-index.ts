// Which items match which selectors, kept up to date one change at a time. A change of an item is compared only with the
// selectors that its labels can have to do with: most selectors ask for a label with a certain value, and are found by it.
import { evaluateSelector, type Labels, type Selector } from "../../model/index.ts";
import { effectiveLabels } from "../members.ts";

export type Labelled = { readonly labels: Labels; readonly profileIds: readonly string[] };

export type MatchListener = {
  readonly started: (item: string, selector: string) => void;
  readonly stopped: (item: string, selector: string) => void;
};

type Item = { readonly given: Labelled; labels: Labels; readonly matched: Set<string> };
type Known = {
  readonly selector: Selector;
  readonly asksFor: readonly string[] | undefined;
  readonly items: Set<string>;
};

/** How often labels were compared with a selector, by what came of it; and how often items were looked for, by the way they are found. */
export type Comparisons = {
  readonly results: { readonly [result in "true" | "false"]: number };
  readonly strategies: { readonly [strategy in Strategy]: number };
};
export const strategies = ["no-match", "single-value", "multi-value", "label-name", "full-scan"] as const;
export type Strategy = (typeof strategies)[number];

export class LabelIndex {
  readonly #items = new Map<string, Item>();
  readonly #selectors = new Map<string, Known>();
  readonly #profileLabels = new Map<string, Labels>();
  readonly #itemsByProfile = new Multimap();
  /** Items by each of their labels, and by the names of them. */
  readonly #itemsByLabel = new Multimap();
  /** Selectors by a label that an item must have to match. */
  readonly #selectorsByLabel = new Multimap();
  /** Those that may match an item whatever labels it has. */
  readonly #open = new Set<string>();
  readonly #listener: MatchListener;
  #comparisons = noComparisons();

  constructor(listener: MatchListener) {
    this.#listener = listener;
  }

  matching(selector: string): ReadonlySet<string> {
    return this.#selectors.get(selector)?.items ?? new Set();
  }

  selectorsOf(item: string): ReadonlySet<string> {
    return this.#items.get(item)?.matched ?? new Set();
  }

  /** Since they were last asked for. */
  takeComparisons(): Comparisons {
    const taken = this.#comparisons;
    this.#comparisons = noComparisons();
    return taken;
  }

  setItem(id: string, given: Labelled): void {
    const before = this.#items.get(id);
    const labels = effectiveLabels(given, this.#profileLabels);
    const item = { given, labels, matched: before?.matched ?? new Set<string>() };
    this.#items.set(id, item);
    this.#relist(id, before, item);
    this.#compare(id, item);
  }

  removeItem(id: string): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    this.#unlist(id, item);
    this.#items.delete(id);
    for (const selector of item.matched) this.#stop(id, item, selector);
  }

  /** Undefined: the profile has none. */
  setProfileLabels(profile: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#profileLabels.delete(profile);
    else this.#profileLabels.set(profile, labels);
    for (const id of [...this.#itemsByProfile.of(profile)]) {
      const item = this.#items.get(id);
      if (item !== undefined) this.setItem(id, item.given);
    }
  }

  addSelector(id: string, selector: Selector): void {
    const asksFor = labelsAskedFor(selector);
    const known: Known = { selector, asksFor, items: new Set() };
    this.#selectors.set(id, known);
    if (asksFor === undefined) this.#open.add(id);
    else for (const label of asksFor) this.#selectorsByLabel.add(label, id);
    this.#comparisons.strategies[strategyOf(asksFor)] += 1;
    const candidates =
      asksFor === undefined ? this.#items.keys() : asksFor.flatMap((label) => [...this.#itemsByLabel.of(label)]);
    for (const item of new Set(candidates)) this.#compareOne(item, id, known);
  }

  removeSelector(id: string): void {
    const known = this.#selectors.get(id);
    if (known === undefined) return;
    for (const name of [...known.items]) {
      const item = this.#items.get(name);
      if (item !== undefined) this.#stop(name, item, id);
    }
    this.#selectors.delete(id);
    this.#open.delete(id);
    for (const label of known.asksFor ?? []) this.#selectorsByLabel.delete(label, id);
  }

  #compare(id: string, item: Item): void {
    if (this.#selectors.size === 0) return;
    const candidates = new Set([...item.matched, ...this.#open]);
    for (const label of keysOf(item.labels))
      for (const selector of this.#selectorsByLabel.of(label)) candidates.add(selector);
    for (const selector of candidates) {
      const known = this.#selectors.get(selector);
      if (known !== undefined) this.#compareOne(id, selector, known);
    }
  }

  #compareOne(id: string, selector: string, known: Known): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    const isMatching = evaluateSelector(known.selector, item.labels);
    this.#comparisons.results[isMatching ? "true" : "false"] += 1;
    if (isMatching === item.matched.has(selector)) return;
    if (!isMatching) {
      this.#stop(id, item, selector);
      return;
    }
    item.matched.add(selector);
    known.items.add(id);
    this.#listener.started(id, selector);
  }

  #stop(id: string, item: Item, selector: string): void {
    item.matched.delete(selector);
    this.#selectors.get(selector)?.items.delete(id);
    this.#listener.stopped(id, selector);
  }

  #unlist(id: string, { given, labels }: Item): void {
    for (const profile of given.profileIds) this.#itemsByProfile.delete(profile, id);
    for (const label of keysOf(labels)) this.#itemsByLabel.delete(label, id);
  }

  // Of an item that changes, most labels stay: only the others are touched, because each is a text to make and to look up.
  #relist(id: string, before: Item | undefined, now: Item): void {
    for (const profile of before?.given.profileIds ?? []) this.#itemsByProfile.delete(profile, id);
    for (const profile of now.given.profileIds) this.#itemsByProfile.add(profile, id);
    const [old, labels] = [before?.labels ?? {}, now.labels];
    for (const [name, value] of Object.entries(old)) {
      const isNamed = Object.hasOwn(labels, name);
      if (!isNamed) this.#itemsByLabel.delete(name, id);
      if (!isNamed || labels[name] !== value) this.#itemsByLabel.delete(`${name}=${value}`, id);
    }
    for (const [name, value] of Object.entries(labels)) {
      const wasNamed = Object.hasOwn(old, name);
      if (!wasNamed) this.#itemsByLabel.add(name, id);
      if (!wasNamed || old[name] !== value) this.#itemsByLabel.add(`${name}=${value}`, id);
    }
  }
}

function noComparisons() {
  return {
    results: { true: 0, false: 0 },
    strategies: { "no-match": 0, "single-value": 0, "multi-value": 0, "label-name": 0, "full-scan": 0 },
  };
}

function strategyOf(asksFor: readonly string[] | undefined): Strategy {
  if (asksFor === undefined) return "full-scan";
  if (asksFor.length === 0) return "no-match";
  if (asksFor.some((label) => !label.includes("="))) return "label-name";
  return asksFor.length === 1 ? "single-value" : "multi-value";
}

/** Sets by key; a key without members is forgotten. */
class Multimap {
  readonly #sets = new Map<string, Set<string>>();

  of(key: string): ReadonlySet<string> {
    return this.#sets.get(key) ?? nothing;
  }

  add(key: string, member: string): void {
    const known = this.#sets.get(key);
    if (known === undefined) this.#sets.set(key, new Set([member]));
    else known.add(member);
  }

  delete(key: string, member: string): void {
    const known = this.#sets.get(key);
    if (known?.delete(member) === true && known.size === 0) this.#sets.delete(key);
  }
}

const nothing: ReadonlySet<string> = new Set();

/** No label has "=" in its name, so the two forms cannot be taken for each other. */
function keysOf(labels: Labels): readonly string[] {
  return Object.entries(labels).flatMap(([name, value]) => [name, `${name}=${value}`]);
}

/**
 * Labels of which an item must have at least one to match: "name", or "name=value". Undefined: an item without labels may
 * match, too. The empty list: nothing ever matches.
 */
export function labelsAskedFor(selector: Selector): readonly string[] | undefined {
  switch (selector.is) {
    case "==":
      return [`${selector.label}=${selector.value}`];
    case "in":
      return selector.values.map((value) => `${selector.label}=${value}`);
    case "has":
    case "contains":
    case "starts with":
    case "ends with":
      return [selector.label];
    case "and": {
      const asked = selector.operands.map(labelsAskedFor).filter((one) => one !== undefined);
      return asked.toSorted((a, b) => cost(a) - cost(b))[0];
    }
    case "or": {
      const asked = selector.operands.map(labelsAskedFor);
      return asked.some((one) => one === undefined) ? undefined : asked.flatMap((one) => one ?? []);
    }
    default:
      return undefined;
  }
}

/** A value is met by fewer items than a name. */
function cost(labels: readonly string[]): number {
  return labels.reduce((sum, label) => sum + (label.includes("=") ? 1 : 100), 0);
}

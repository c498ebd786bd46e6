// The members of the sets that are in use, counted: one address may be a member because of several endpoints, and stays until the
// last of them has gone. What changed is gathered until somebody asks.
import { rangeText } from "../../../base/lib/index.ts";
import { type Member, membersOf, membersOfSlice } from "../members.ts";
import type { SetSpec } from "../set-spec.ts";
import type { Endpoint, NetworkSet, ServiceEndpoints } from "../values.ts";
import { type Comparisons, LabelIndex } from "./label-index.ts";

export type SetChanges = {
  readonly created: readonly SetSpec[];
  readonly removed: readonly string[];
  /** By set; those of a new set are among them. */
  readonly members: ReadonlyMap<string, { readonly added: readonly string[]; readonly removed: readonly string[] }>;
};

type InUse = {
  readonly spec: SetSpec;
  users: number;
  readonly counts: Map<string, number>;
  /** What each contributor has brought. */
  readonly brought: Map<string, readonly string[]>;
};

/** Was a member when somebody last asked; the other half of the pair is whether it is one now. */
type Before = Map<string, boolean>;

/** "tcp 80 10.0.0.1/32": protocol and port stand before the network where the set has them. */
export function memberText({ net, protocol, port }: Member): string {
  const text = rangeText(net);
  return protocol === undefined ? text : `${protocol} ${port} ${text}`;
}

export class SetMembers {
  readonly #sets = new Map<string, InUse>();
  readonly #labelled = new Map<string, Endpoint | NetworkSet>();
  readonly #slices = new Map<string, ServiceEndpoints>();
  readonly #touched = new Map<string, Before>();
  /** Whether a set was there when somebody last asked. */
  readonly #was = new Map<string, SetSpec | undefined>();
  readonly #labels = new LabelIndex({
    started: (item, set) => this.#bring(set, item),
    stopped: (item, set) => this.#take(set, item),
  });

  setLabelled(id: string, value: Endpoint | NetworkSet | undefined): void {
    if (value === undefined) {
      this.#labels.removeItem(id);
      this.#labelled.delete(id);
      return;
    }
    this.#labelled.set(id, value);
    this.#labels.setItem(id, value);
    for (const set of this.#labels.selectorsOf(id)) this.#bring(set, id);
  }

  setProfileLabels(...change: Parameters<LabelIndex["setProfileLabels"]>): void {
    this.#labels.setProfileLabels(...change);
  }

  setSlice(id: string, slice: ServiceEndpoints | undefined): void {
    const before = this.#slices.get(id);
    if (slice === undefined) this.#slices.delete(id);
    else this.#slices.set(id, slice);
    for (const one of [before, slice])
      for (const set of one === undefined ? [] : serviceSets(one)) this.#bring(set, id);
  }

  use(spec: SetSpec): void {
    const known = this.#sets.get(spec.id);
    if (known !== undefined) {
      known.users += 1;
      return;
    }
    if (!this.#was.has(spec.id)) this.#was.set(spec.id, undefined);
    this.#sets.set(spec.id, { spec, users: 1, counts: new Map(), brought: new Map() });
    if (spec.is === "service") for (const id of this.#slices.keys()) this.#bring(spec.id, id);
    else this.#labels.addSelector(spec.id, spec.selector);
  }

  release(spec: SetSpec): void {
    const known = this.#sets.get(spec.id);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    if (spec.is !== "service") this.#labels.removeSelector(spec.id);
    for (const id of [...known.brought.keys()]) this.#take(spec.id, id);
    if (!this.#was.has(spec.id)) this.#was.set(spec.id, spec);
    this.#sets.delete(spec.id);
  }

  get counts(): { readonly sets: number; readonly labelled: number } {
    return { sets: this.#sets.size, labelled: this.#labelled.size };
  }

  takeComparisons(): Comparisons {
    return this.#labels.takeComparisons();
  }

  /** False: takeChanges() has nothing to say. */
  get mayHaveChanged(): boolean {
    return this.#was.size + this.#touched.size > 0;
  }

  members(set: string): readonly string[] {
    return [...(this.#sets.get(set)?.counts.keys() ?? [])];
  }

  ids(): readonly string[] {
    return [...this.#sets.keys()];
  }

  /** Everything that is another than when last asked. */
  takeChanges(): SetChanges {
    const created: SetSpec[] = [];
    const removed: string[] = [];
    const remade = new Set<string>();
    for (const [id, before] of this.#was) {
      const now = this.#sets.get(id)?.spec;
      if (before === undefined && now !== undefined) created.push(now);
      if (before !== undefined && now === undefined) removed.push(id);
      if (now === undefined) remade.add(id);
    }
    const members = new Map<string, { added: string[]; removed: string[] }>();
    for (const [set, before] of this.#touched) {
      if (remade.has(set)) continue;
      const { counts } = this.#sets.get(set) ?? { counts: new Map<string, number>() };
      const added = [...before].flatMap(([member, was]) => (!was && counts.has(member) ? [member] : []));
      const gone = [...before].flatMap(([member, was]) => (was && !counts.has(member) ? [member] : []));
      if (added.length + gone.length > 0) members.set(set, { added, removed: gone });
    }
    this.#was.clear();
    this.#touched.clear();
    return { created, removed, members };
  }

  /** Takes what the contributor has now in the place of what it had. */
  #bring(set: string, id: string): void {
    const known = this.#sets.get(set);
    if (known === undefined) return;
    const now = this.#contribution(known.spec, id);
    const before = known.brought.get(id) ?? [];
    if (now.length === before.length && now.every((member, at) => member === before[at])) return;
    for (const member of now) this.#count(set, known, member, 1);
    for (const member of before) this.#count(set, known, member, -1);
    if (now.length === 0) known.brought.delete(id);
    else known.brought.set(id, now);
  }

  #take(set: string, id: string): void {
    const known = this.#sets.get(set);
    for (const member of known?.brought.get(id) ?? []) if (known !== undefined) this.#count(set, known, member, -1);
    known?.brought.delete(id);
  }

  #count(set: string, { counts }: InUse, member: string, by: 1 | -1): void {
    const before = counts.get(member) ?? 0;
    const touched = this.#touched.get(set) ?? new Map<string, boolean>();
    this.#touched.set(set, touched);
    if (!touched.has(member)) touched.set(member, before > 0);
    if (before + by === 0) counts.delete(member);
    else counts.set(member, before + by);
  }

  #contribution(spec: SetSpec, id: string): readonly string[] {
    if (spec.is === "service") {
      const slice = this.#slices.get(id);
      return slice === undefined ? [] : [...membersOfSlice(spec, slice)].map(memberText);
    }
    const item = this.#labelled.get(id);
    return item === undefined ? [] : [...membersOf(spec, item)].map(memberText);
  }
}

function serviceSets({ namespace, service }: ServiceEndpoints): readonly string[] {
  return ["ports", "addresses"].map((form) => `service ${namespace}/${service} ${form}`);
}

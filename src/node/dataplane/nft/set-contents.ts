// What the sets of rules hold: members as they were said, and the elements that nft is given for them. Networks may overlap, which nft
// refuses: what is programmed is the fewest that hold all of them.
import { parseRange, rangeText } from "../../../base/lib/index.ts";
import type { NodeChanges, SetSpec } from "../../../calico/policy/index.ts";
import { setName } from "./names.ts";
import { disjoint, halves, setDeclaration } from "./render-rule.ts";
import type { NftRuleset } from "./ruleset.ts";

type Contents = {
  readonly spec: SetSpec;
  readonly members: Set<string>;
  /** How many of them are wider than one address. */
  wide: number;
  /** Not to be in the kernel: it refuses the policies that need it. */
  isWithheld: boolean;
};

const families = [4, 6] as const;

export class SetContents {
  readonly #ruleset: NftRuleset;
  readonly #sets = new Map<string, Contents>();

  constructor(ruleset: NftRuleset) {
    this.#ruleset = ruleset;
  }

  take({ created, members, removed }: NodeChanges["sets"]): void {
    for (const spec of created) {
      this.#sets.set(spec.id, { spec, members: new Set(), wide: 0, isWithheld: false });
      this.#declare(spec);
    }
    for (const [id, change] of members) this.#change(id, change);
    for (const id of removed) {
      this.#sets.delete(id);
      this.#remove(id);
    }
  }

  /** Takes sets out of the kernel, or puts them back. */
  withhold(ids: ReadonlySet<string>): void {
    for (const [id, contents] of this.#sets) {
      if (contents.isWithheld === ids.has(id)) continue;
      contents.isWithheld = ids.has(id);
      if (contents.isWithheld) this.#remove(id);
      else {
        this.#declare(contents.spec);
        this.#refill(id, contents);
      }
    }
  }

  /** The names that a set has in the table, with what it holds as text for a trial. */
  declarations(id: string): readonly { readonly name: string; readonly text: string }[] {
    const known = this.#sets.get(id);
    if (known === undefined) return [];
    return families.map((family) => {
      const elements = elementsFor(known, family);
      const filled = elements.length === 0 ? "" : ` elements = { ${elements.join(", ")} }`;
      return { name: setName(id, family), text: `${setDeclaration(known.spec, family)}${filled}` };
    });
  }

  #declare(spec: SetSpec): void {
    for (const family of families) this.#ruleset.declareSet(setName(spec.id, family), setDeclaration(spec, family));
  }

  #remove(id: string): void {
    for (const family of families) this.#ruleset.removeSet(setName(id, family));
  }

  #change(id: string, { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] }) {
    const known = this.#sets.get(id);
    if (known === undefined) return;
    const wasWide = known.wide > 0;
    for (const member of removed) if (known.members.delete(member) && isWide(member)) known.wide -= 1;
    for (const member of added) {
      if (!known.members.has(member) && isWide(member)) known.wide += 1;
      known.members.add(member);
    }
    if (known.isWithheld) return;
    if (wasWide || known.wide > 0) {
      this.#refill(id, known);
      return;
    }
    for (const family of families) {
      const of = (members: readonly string[]) =>
        members.flatMap((member) => (familyOf(member) === family ? [elementOf(member)] : []));
      this.#ruleset.changeElements(setName(id, family), { added: of(added), removed: of(removed) });
    }
  }

  #refill(id: string, known: Contents): void {
    for (const family of families) replaceElements(this.#ruleset, setName(id, family), elementsFor(known, family));
  }
}

export function replaceElements(ruleset: NftRuleset, set: string, elements: readonly string[]): void {
  const wanted = new Set(elements);
  const now = ruleset.elements(set);
  ruleset.changeElements(set, {
    removed: [...now.keys()].filter((key) => !wanted.has(key)),
    added: elements.filter((key) => !now.has(key)),
  });
}

/** The fewest elements that hold these networks. */
export function coverOf(nets: readonly string[]): readonly string[] {
  return disjoint(nets.flatMap((net) => parseRange(net) ?? []))
    .flatMap(halves)
    .map((net) => elementOf(rangeText(net)));
}

function elementsFor({ members, wide }: Contents, family: 4 | 6): readonly string[] {
  const ofFamily = [...members].filter((member) => familyOf(member) === family);
  return wide === 0 ? ofFamily.map(elementOf) : coverOf(ofFamily);
}

function isWide(member: string): boolean {
  return !(member.endsWith("/32") && !member.includes(":")) && !member.endsWith("/128");
}

function familyOf(member: string): 4 | 6 {
  return member.includes(":") ? 6 : 4;
}

/** "6 80 10.0.0.1/32" is "10.0.0.1 . 6 . 80"; an address alone needs no length. */
function elementOf(member: string): string {
  const [first = "", port, net] = member.split(" ");
  const text = net ?? first;
  const address = text.includes(":") ? text.replace(/\/128$/, "") : text.replace(/\/32$/, "");
  return net === undefined ? address : `${address} . ${first} . ${port}`;
}

// Requests that work on one block at the same time share a write: what each did to the block that it saw is done again to the block
// as the others have left it. That works where nobody else touched the same addresses; otherwise it is a conflict, as it would
// be at the datastore.
import type { Attribute, Block } from "../ipam/index.ts";

/** `base` became `changed`. The same change to `onto`; undefined: they do not go together. */
export function rebaseBlock(base: Block, changed: Block, onto: Block): Block | undefined {
  const isOwnersChange = changed.owner !== base.owner || changed.isDeleted !== base.isDeleted;
  if (isOwnersChange && (onto.owner !== base.owner || onto.isDeleted !== base.isDeleted)) return undefined;
  const changes = changesOf(base, changed);
  const allocations = onto.allocations.map((index) => (index === null ? undefined : onto.attributes[index]));
  const numbers = new Map(onto.sequenceNumbers);
  const freed = new Set<number>();
  const taken = new Set<number>();
  for (const { ordinal, before, now } of changes) {
    const current = allocations[ordinal];
    if (current === undefined && now === undefined) continue; // both have swept it
    if (!isSame(current, before)) return undefined;
    allocations[ordinal] = now;
    if (now === undefined) freed.add(ordinal);
    else taken.add(ordinal);
    const number = changed.sequenceNumbers.get(ordinal);
    if (number === undefined) numbers.delete(ordinal);
    else numbers.set(ordinal, number);
  }
  const owners = isOwnersChange ? changed : onto;
  return {
    ...onto,
    ...indexed(onto.attributes, allocations),
    owner: owners.owner,
    claimTime: owners.claimTime,
    isDeleted: owners.isDeleted,
    // In the order in which they were given back; a queue, as in the block itself.
    unallocated: [
      ...onto.unallocated.filter((ordinal) => !taken.has(ordinal)),
      ...changed.unallocated.filter((ordinal) => freed.has(ordinal)),
    ],
    sequenceNumbers: numbers,
    sequenceNumber: onto.sequenceNumber + (changed.sequenceNumber - base.sequenceNumber),
  };
}

type Change = { readonly ordinal: number; readonly before: Attribute | undefined; readonly now: Attribute | undefined };

function changesOf(base: Block, changed: Block): Change[] {
  const at = (block: Block, ordinal: number) => {
    const index = block.allocations[ordinal] ?? null;
    return index === null ? undefined : block.attributes[index];
  };
  return base.allocations.flatMap((_, ordinal) => {
    const [before, now] = [at(base, ordinal), at(changed, ordinal)];
    return isSame(before, now) ? [] : [{ ordinal, before, now }];
  });
}

/** Attributes are compared by what they say: a block that was read again has others that say the same. */
function isSame(a: Attribute | undefined, b: Attribute | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && textOf(a) === textOf(b));
}

function textOf({ handle_id, secondary = {}, alternateOwnerAttrs = {}, releasedAt }: Attribute): string {
  const sorted = (texts: object) => Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return JSON.stringify([handle_id, sorted(secondary), sorted(alternateOwnerAttrs), releasedAt]);
}

/** Known attributes keep their order, new ones follow, and those that nobody has any more go. Equal ones share a place. */
function indexed(known: readonly Attribute[], held: readonly (Attribute | undefined)[]) {
  const places = new Map<string, Attribute>();
  for (const attribute of [...known, ...held]) {
    if (attribute !== undefined && !places.has(textOf(attribute))) places.set(textOf(attribute), attribute);
  }
  const used = new Set(held.flatMap((attribute) => (attribute === undefined ? [] : [textOf(attribute)])));
  const kept = [...places].filter(([text]) => used.has(text));
  const index = new Map(kept.map(([text], at) => [text, at]));
  return {
    attributes: kept.map(([, attribute]) => attribute),
    allocations: held.map((attribute) => (attribute === undefined ? null : (index.get(textOf(attribute)) ?? null))),
  };
}

// The inside of blocks: every ordinal is either allocated or free, once; every allocation points to an attribute and has a
// sequence number, and nothing is kept for those that are free. Also here: blocks in each other's way, and the original's
// own words for a block that it calls invalid.
import { holds, rangeText } from "../../../base/lib/index.ts";
import { type Block, cidrOf } from "../block.ts";
import type { Versioned } from "../steps/step.ts";
import { type Finding, fixCommand } from "./finding.ts";

/** Empty: the block is sound. This runs after every write of a campaign, so it makes nothing unless something is wrong. */
export function blockFaults(block: Block): string[] {
  const { allocations, unallocated, attributes, sequenceNumbers } = block;
  const size = 2 ** ((block.range.family === 4 ? 32 : 128) - block.range.prefixLength);
  if (allocations.length !== size) return [`has ${allocations.length} allocations, and ${size} addresses`];
  const faults: string[] = [];
  const isUsed = new Uint8Array(attributes.length);
  const seen = new Uint8Array(size);
  let taken = 0;
  for (let ordinal = 0; ordinal < size; ordinal += 1) {
    const index = allocations[ordinal] ?? null;
    if (index === null) continue;
    taken += 1;
    seen[ordinal] = 1;
    if (attributes[index] === undefined)
      faults.push(`ordinal ${ordinal} points to attribute ${index}, which is missing`);
    else isUsed[index] = 1;
    if (!sequenceNumbers.has(ordinal)) faults.push(`ordinal ${ordinal} is allocated and has no sequence number`);
  }
  for (const ordinal of unallocated) {
    if (!(ordinal >= 0 && ordinal < size)) faults.push(`ordinal ${ordinal} is free and not in the block`);
    else if (allocations[ordinal] !== null) faults.push(`ordinal ${ordinal} is both allocated and free`);
    else if (seen[ordinal] === 1) faults.push(`ordinal ${ordinal} is free twice`);
    else seen[ordinal] = 1;
  }
  if (taken + unallocated.length !== size || faults.length > 0) {
    for (const [ordinal, mark] of seen.entries()) {
      if (mark === 0) faults.push(`ordinal ${ordinal} is neither allocated nor free`);
    }
  }
  if (sequenceNumbers.size !== taken) {
    for (const ordinal of sequenceNumbers.keys()) {
      if ((allocations[ordinal] ?? null) === null) faults.push(`ordinal ${ordinal} is free and has a sequence number`);
    }
  }
  for (const [index, mark] of isUsed.entries()) {
    if (mark === 0) faults.push(`attribute ${index} is nobody's`);
  }
  return faults;
}

/** The block with everything put right that follows from its allocations. Undefined: a person must decide. */
export function repaired(block: Block): Block | undefined {
  const { allocations, attributes } = block;
  const size = 2 ** ((block.range.family === 4 ? 32 : 128) - block.range.prefixLength);
  if (allocations.length !== size) return undefined;
  if (allocations.some((index) => index !== null && attributes[index] === undefined)) return undefined;
  const isFree = (ordinal: number) => ordinal >= 0 && ordinal < size && allocations[ordinal] === null;
  const known = new Set(block.unallocated.filter(isFree));
  const forgotten = allocations.flatMap((index, ordinal) => (index === null && !known.has(ordinal) ? [ordinal] : []));
  const used = [...new Set(allocations)].filter((index) => index !== null).sort((a, b) => a - b);
  const renumbered = new Map(used.map((index, at) => [index, at]));
  const numbers = allocations.flatMap((index, ordinal): [number, bigint][] =>
    index === null ? [] : [[ordinal, block.sequenceNumbers.get(ordinal) ?? block.sequenceNumber]],
  );
  return {
    ...block,
    unallocated: [...known, ...forgotten],
    attributes: used.map((index) => attributes[index] ?? {}),
    allocations: allocations.map((index) => (index === null ? null : (renumbered.get(index) ?? null))),
    sequenceNumbers: new Map(numbers),
  };
}

/** What the original's check says of a block; undefined: it finds it valid. */
export function invalidWords(block: Block, nowNs: bigint): string | undefined {
  const { allocations, attributes, unallocated } = block;
  const used = new Set<number>();
  let allocated = 0;
  for (const [ordinal, index] of allocations.entries()) {
    if (index === null) continue;
    if (attributes[index] === undefined) return `allocation ${ordinal} indexes a nonexistent attribute ${index}`;
    used.add(index);
    allocated += 1;
  }
  for (const [index, { releasedAt }] of attributes.entries()) {
    if (!used.has(index)) return `attribute index ${index} exists but is not indexed by an allocation`;
    if (releasedAt !== undefined && BigInt(Date.parse(releasedAt) || 0) * 1_000_000n > nowNs) {
      return `attribute index ${index} has releasedAt in the future, suggesting clock skew`;
    }
  }
  const free = new Set<number>();
  for (const ordinal of unallocated) {
    if (!(ordinal >= 0 && ordinal < allocations.length)) {
      return `ordinal ${ordinal} appears in the Unallocated array but is out of the block`;
    }
    if (free.has(ordinal)) return `ordinal ${ordinal} appears more than once in Unallocated array`;
    if (allocations[ordinal] !== null) return `ordinal ${ordinal} is allocated but appears in Unallocated`;
    free.add(ordinal);
  }
  const size = 2 ** ((block.range.family === 4 ? 32 : 128) - block.range.prefixLength);
  const sum = unallocated.length + allocated;
  if (sum === size) return undefined;
  return `expected ${size} addresses in this block, but Unallocated (${unallocated.length}) + Allocated (${allocated}) = ${sum}`;
}

export function checkBlock(block: Versioned<Block>): Finding[] {
  const faults = blockFaults(block.value);
  if (faults.length === 0) return [];
  const cidr = cidrOf(block.value);
  const more = faults.length > 3 ? `, and ${faults.length - 3} more` : "";
  const isMendable = repaired(block.value) !== undefined;
  return [
    {
      code: "BLOCK_BROKEN",
      key: `BLOCK_BROKEN ${cidr} ${block.revision}`,
      says: `block ${cidr}: ${faults.slice(0, 3).join("; ")}${more}`,
      command: isMendable ? fixCommand : `cattail ctl ipam show --show-blocks, and correct block ${cidr} by hand`,
      mend: isMendable ? { is: "block", block } : undefined,
    },
  ];
}

/** In the order of their addresses an overlap is between neighbours, or within one that is larger. */
export function checkOverlaps(blocks: readonly Versioned<Block>[]): Finding[] {
  const sorted = blocks
    .map(({ value }) => value.range)
    .sort((a, b) => {
      if (a.family !== b.family) return a.family - b.family;
      if (a.first !== b.first) return a.first < b.first ? -1 : 1;
      return a.prefixLength - b.prefixLength;
    });
  const findings: Finding[] = [];
  let outer = sorted[0];
  for (const range of sorted.slice(1)) {
    if (outer !== undefined && holds(outer, range)) {
      const [a, b] = [rangeText(outer), rangeText(range)];
      findings.push({
        code: "BLOCKS_OVERLAP",
        key: `BLOCKS_OVERLAP ${a} ${b}`,
        says: `blocks ${a} and ${b} overlap: the pool's block size was changed while blocks were in use`,
        command: `move the pods of one of them, then ${fixCommand}`,
        mend: undefined,
      });
    } else outer = range;
  }
  return findings;
}

// Blocks as the datastore holds them, read no further than a command needs. A block has two lists of 64 entries; typing and
// writing each of a thousand blocks again, as calico/resources does, costs ten times what `ipam show` takes in all (bench/ctl).
import { type AddressRange, isRecord, type JsonRecord, parseRange, rangeText } from "../../../../base/lib/index.ts";
import type { Datastore } from "../../../../calico/datastore/index.ts";

export type StoredBlock = {
  readonly name: string;
  /** In canonical form. */
  readonly cidr: string;
  readonly range: AddressRange;
  readonly spec: JsonRecord;
};
export type UnreadableBlock = { readonly name: string; readonly problem: string };
export type PickedBlocks<T> = { readonly picked: readonly T[]; readonly unreadable: readonly UnreadableBlock[] };

/** Of each block only what was picked is kept: pages come and go. In the order of names. */
export async function listBlocks<T>(
  datastore: Datastore,
  pick: (block: StoredBlock) => T,
  signal: AbortSignal,
): Promise<PickedBlocks<T>> {
  const found = new Map<string, { readonly value: T } | UnreadableBlock>();
  for await (const { items, gone = [] } of datastore.list("IPAMBlock", { signal })) {
    for (const { id, value, problem } of items) {
      const { name } = id;
      const read = problem === undefined ? readStored(name, value, datastore.flavour) : { name, problem };
      found.set(name, "problem" in read ? read : { value: pick(read) });
    }
    for (const { name } of gone) found.delete(name);
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, block]) => block);
  return {
    picked: sorted.flatMap((block) => ("value" in block ? [block.value] : [])),
    unreadable: sorted.flatMap((block) => ("problem" in block ? [block] : [])),
  };
}

/** etcd has the block itself, everybody else an object around it. */
function readStored(name: string, value: unknown, flavour: string): StoredBlock | UnreadableBlock {
  const spec = flavour === "etcdv3" || !isRecord(value) ? value : value.spec;
  if (!isRecord(spec)) return { name, problem: "it has no spec" };
  const range = typeof spec.cidr === "string" ? parseRange(spec.cidr) : undefined;
  if (range === undefined) return { name, problem: "its cidr is no CIDR" };
  if (!Array.isArray(spec.unallocated)) return { name, problem: "unallocated is no list" };
  return { name, cidr: rangeText(range), range, spec };
}

/** Anything but a whole number that the block has room for is left out: it can be no address. */
export function unallocatedOf({ spec, range }: StoredBlock): number[] {
  const size = 2 ** ((range.family === 4 ? 32 : 128) - range.prefixLength);
  const listed: unknown[] = Array.isArray(spec.unallocated) ? spec.unallocated : [];
  return listed.filter((each): each is number => typeof each === "number" && each >= 0 && each < size);
}

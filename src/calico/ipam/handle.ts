// A handle is the name under which addresses are held, one for each container: how many in which block. It is raised before
// addresses are taken and lowered after they are given back, so that a crash leaves one that counts too much, and never an
// address that no handle leads to.

export type Handle = { readonly id: string; readonly blocks: ReadonlyMap<string, number>; readonly isDeleted: boolean };

/** What is stored of it, as the kind's schema has it. */
export type HandleSpec = {
  readonly handleID?: string | undefined;
  readonly block?: { readonly [cidr: string]: number | bigint } | undefined;
  readonly deleted?: boolean | undefined;
};

export function readHandle({ handleID = "", block = {}, deleted = false }: HandleSpec): Handle {
  const blocks = new Map(Object.entries(block).map(([cidr, count]) => [cidr, Number(count)]));
  return { id: handleID, blocks, isDeleted: deleted };
}

/** Go writes a map by its names, so we do. */
export function handleSpec({ id, blocks, isDeleted }: Handle) {
  const sorted = [...blocks].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return { handleID: id, block: Object.fromEntries(sorted), deleted: isDeleted };
}

export function newHandle(id: string): Handle {
  return { id, blocks: new Map(), isDeleted: false };
}

export function raised(handle: Handle, cidr: string, count: number): Handle {
  if (count <= 0) return handle;
  return { ...handle, blocks: new Map(handle.blocks).set(cidr, (handle.blocks.get(cidr) ?? 0) + count) };
}

/**
 * `missing` is by how much the handle counted too little. It is no reason to stop: the addresses are free already, and nothing
 * is left to count.
 */
export function lowered(
  handle: Handle,
  cidr: string,
  count: number,
): { readonly handle: Handle; readonly missing: number } {
  const counted = handle.blocks.get(cidr) ?? 0;
  if (counted <= count) return { handle: withoutBlock(handle, cidr), missing: count - counted };
  return { handle: { ...handle, blocks: new Map(handle.blocks).set(cidr, counted - count) }, missing: 0 };
}

/** For a block that is gone. Where it is only empty, somebody may have raised the handle and be about to take an address. */
export function withoutBlock(handle: Handle, cidr: string): Handle {
  return { ...handle, blocks: new Map([...handle.blocks].filter(([each]) => each !== cidr)) };
}

/** Then it is deleted instead of written. */
export function isUnused({ blocks }: Handle): boolean {
  return [...blocks.values()].every((count) => count <= 0);
}

// Gives back all addresses of a handle: in each of its blocks first, then in the handle, so that a crash in between leaves a
// handle that counts too much and never an address without one.

import type { AddressRange } from "../../../base/lib/index.ts";
import type { Labels } from "../../model/index.ts";
import { parseOwner } from "../affinity.ts";
import { type Block, cidrOf, isEmpty } from "../block.ts";
import { forWrite, releaseByHandle, sweep } from "../block-changes.ts";
import type { Handle } from "../handle.ts";
import { type Pool, poolOf, selects } from "../pools.ts";
import { releaseClaim } from "./claim.ts";
import { isRemade, lowerHandle } from "./handles.ts";
import {
  getBlock,
  getHandle,
  mostTries,
  readClock,
  remove,
  type Steps,
  TooManyConflicts,
  update,
  type Versioned,
} from "./step.ts";

export type HandleReleased = {
  readonly released: readonly AddressRange[];
  /** As they were written; the caller looks whether their pools still select their owners. */
  readonly blocks: readonly Block[];
};

/**
 * A handle that is absent has nothing to give back. One that counts more than its blocks hold goes nevertheless: whoever raised it and
 * has not written the block yet read that block before we read the handle, so our write of the block makes him start again,
 * which begins with the handle (handles.ts). The original leaves such handles for ever.
 */
export function* releaseHandle({ id, cooldownSeconds, known }: ReleaseOfHandle): Steps<HandleReleased> {
  const released: AddressRange[] = [];
  const blocks: Block[] = [];
  let handle = known ?? (yield* getHandle(id));
  for (let turn = 0; handle !== undefined; turn += 1) {
    if (turn === mostTries) throw new TooManyConflicts();
    const given: { cidr: string; count: number }[] = [];
    for (const cidr of handle.value.blocks.keys()) {
      const done = yield* releaseInBlock(cidr, { id, cooldownSeconds });
      if (done === "no-block" || done.released.length === 0) continue;
      given.push({ cidr, count: done.released.length });
      released.push(...done.released);
      blocks.push(done.block);
    }
    if ((yield* remove({ kind: "handle", id }, handle.revision)) === "gone") break;
    // Somebody raised it meanwhile, or another release dropped it and it was made anew. Where the datastore does not tell which, all
    // is done once more; otherwise what we gave back is no longer counted, and the rest is his.
    const now: Versioned<Handle> | undefined = yield* getHandle(id);
    if (now === undefined || isRemade(handle, now)) break;
    if (now.made !== undefined) {
      yield* lowerHandle(now, given);
      break;
    }
    handle = now;
  }
  return { released, blocks };
}

export type ReleaseOfHandle = {
  readonly id: string;
  readonly cooldownSeconds: number;
  /** As it was just read. */
  readonly known?: Versioned<Handle>;
};

/** A block that holds nothing of the handle is written as well, or deleted where nobody owns it: see above. */
function* releaseInBlock(
  cidr: string,
  { id, cooldownSeconds }: Pick<ReleaseOfHandle, "id" | "cooldownSeconds">,
): Steps<{ readonly released: readonly AddressRange[]; readonly block: Block } | "no-block"> {
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getBlock(cidr);
    if (found === undefined) return "no-block";
    const waiting = { nowNs: yield* readClock(), cooldownSeconds };
    const done = releaseByHandle(sweep(found.value, waiting), { handle: id, ...waiting });
    if (done.block.owner === undefined && isEmpty(done.block)) {
      if ((yield* remove({ kind: "block", cidr: cidrOf(done.block) }, found.revision)) === "gone") return done;
      continue;
    }
    const value = forWrite(done.block);
    const written = yield* update({ kind: "block", value }, found.revision);
    if (written !== undefined) return { released: done.released, block: value };
  }
  throw new TooManyConflicts();
}

/** After a release: a node whose pool no longer selects it keeps no empty block there. */
export function* releaseUnselected(
  blocks: readonly Block[],
  known: {
    readonly pools: readonly Pool[];
    readonly nodeLabels: ReadonlyMap<string, Labels>;
    readonly cooldownSeconds: number;
  },
): Steps<void> {
  for (const { owner: text, range } of blocks) {
    const owner = parseOwner(text);
    const pool = poolOf(known.pools, range, "enabled");
    const labels = known.nodeLabels.get(owner?.name ?? "");
    if (owner?.type !== "host" || pool === undefined || labels === undefined) continue;
    if (selects(pool.nodeSelector, labels)) continue;
    yield* releaseClaim({ owner, range, mustBeEmpty: true, cooldownSeconds: known.cooldownSeconds });
  }
}

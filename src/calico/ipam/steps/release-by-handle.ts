// Gives back all addresses of a handle: in each of its blocks first, then in the handle, so that a crash in between leaves a
// handle that counts too much and never an address without one.

import type { AddressRange } from "../../../base/lib/index.ts";
import type { Labels } from "../../model/index.ts";
import { parseOwner } from "../affinity.ts";
import { type Block, cidrOf, isEmpty } from "../block.ts";
import { forWrite, releaseByHandle, sweep } from "../block-changes.ts";
import { type Pool, poolOf, selects } from "../pools.ts";
import { lowerHandle } from "./assign-in-block.ts";
import { releaseClaim } from "./claim.ts";
import { getBlock, getHandle, mostTries, readClock, remove, type Steps, TooManyConflicts, update } from "./step.ts";

export type HandleReleased = {
  readonly released: readonly AddressRange[];
  /** As they were written; the caller looks whether their pools still select their owners. */
  readonly blocks: readonly Block[];
};

/** A handle that is absent has nothing to give back. */
export function* releaseHandle({
  id,
  cooldownSeconds,
}: {
  id: string;
  cooldownSeconds: number;
}): Steps<HandleReleased> {
  const handle = yield* getHandle(id);
  const released: AddressRange[] = [];
  const blocks: Block[] = [];
  for (const [cidr, counted] of handle?.value.blocks ?? []) {
    const done = yield* releaseInBlock(cidr, { id, cooldownSeconds });
    if (done === "no-block") {
      // Whatever was counted there is gone with the block. The original leaves such a handle for ever.
      yield* lowerHandle(id, cidr, counted);
      continue;
    }
    yield* lowerHandle(id, cidr, done.released.length);
    released.push(...done.released);
    if (done.released.length > 0) blocks.push(done.block);
  }
  return { released, blocks };
}

function* releaseInBlock(
  cidr: string,
  { id, cooldownSeconds }: { id: string; cooldownSeconds: number },
): Steps<{ readonly released: readonly AddressRange[]; readonly block: Block } | "no-block"> {
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getBlock(cidr);
    if (found === undefined) return "no-block";
    const waiting = { nowNs: yield* readClock(), cooldownSeconds };
    const done = releaseByHandle(sweep(found.value, waiting), { handle: id, ...waiting });
    if (done.released.length === 0) return { released: [], block: found.value };
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

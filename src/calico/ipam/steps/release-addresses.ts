// Gives single addresses back: all of a block in one write, or none of them if a handle or a sequence number does not fit. The handles
// are lowered after that. Pools may be disabled meanwhile, or gone: then the address is looked for in all blocks.
import { type AddressRange, holds, rangeText } from "../../../base/lib/index.ts";
import { type Block, cidrOf, isEmpty } from "../block.ts";
import { forWrite, type ReleaseRequest, releaseAddresses, sweep } from "../block-changes.ts";
import { blockOf } from "../block-order.ts";
import type { Handle } from "../handle.ts";
import { type Pool, poolOf } from "../pools.ts";
import { lowerHandle } from "./handles.ts";
import {
  getBlock,
  getHandle,
  mostTries,
  readClock,
  remove,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  update,
  type Versioned,
} from "./step.ts";

export type AddressesReleased = {
  readonly released: readonly AddressRange[];
  /** Held by nobody, or waiting already. */
  readonly notAllocated: readonly AddressRange[];
  /** Blocks in which nothing was done, and why. */
  readonly conflicts: readonly { readonly cidr: string; readonly says: string }[];
  /** As they were written; the caller looks whether their pools still select their owners. */
  readonly blocks: readonly Block[];
};

type Known = { readonly pools: readonly Pool[]; readonly cooldownSeconds: number };

export function* releaseIps(requests: readonly ReleaseRequest[], known: Known): Steps<AddressesReleased> {
  const { byBlock, nowhere } = yield* sorted(requests, known.pools);
  const released: AddressRange[] = [];
  const notAllocated: AddressRange[] = [...nowhere];
  const conflicts: { cidr: string; says: string }[] = [];
  const blocks: Block[] = [];
  for (const [cidr, wanted] of byBlock) {
    const done = yield* releaseInBlock(cidr, wanted, known.cooldownSeconds);
    if (typeof done === "string") {
      conflicts.push({ cidr, says: done });
      continue;
    }
    const isFree = new Set(done.notAllocated.map(rangeText));
    notAllocated.push(...done.notAllocated);
    if (done.block !== undefined) blocks.push(done.block);
    released.push(...unique(wanted).filter((address) => !isFree.has(rangeText(address))));
  }
  return { released, notAllocated, conflicts, blocks };
}

/** What was not allocated, and the block if it is there after; a text: the conflict. */
function* releaseInBlock(
  cidr: string,
  requests: readonly ReleaseRequest[],
  cooldownSeconds: number,
): Steps<{ readonly notAllocated: readonly AddressRange[]; readonly block?: Block } | string> {
  for (let turn = 0; turn < mostTries; turn += 1) {
    const found = yield* getBlock(cidr);
    if (found === undefined) return { notAllocated: unique(requests) };
    const waiting = { nowNs: yield* readClock(), cooldownSeconds };
    const done = releaseAddresses(sweep(found.value, waiting), requests, waiting);
    if (done.is === "conflict") return done.says;
    if (done.notAllocated.length === unique(requests).length) return { notAllocated: done.notAllocated };
    // Before the block is written: then it is known afterwards whether it is still the same handle.
    const handles: (readonly [Versioned<Handle>, number])[] = [];
    for (const [id, count] of done.countByHandle) {
      const handle = yield* getHandle(id);
      if (handle !== undefined) handles.push([handle, count]);
    }
    const isGone = done.block.owner === undefined && isEmpty(done.block);
    const isWritten = isGone
      ? (yield* remove({ kind: "block", cidr: cidrOf(done.block) }, found.revision)) === "gone"
      : (yield* update({ kind: "block", value: forWrite(done.block) }, found.revision)) !== undefined;
    if (!isWritten) continue;
    for (const [handle, count] of handles) yield* lowerHandle(handle, [{ cidr, count }]);
    return { notAllocated: done.notAllocated, ...(isGone ? {} : { block: done.block }) };
  }
  throw new TooManyConflicts();
}

function* sorted(requests: readonly ReleaseRequest[], pools: readonly Pool[]) {
  const byBlock = new Map<string, ReleaseRequest[]>();
  const nowhere: AddressRange[] = [];
  for (const request of requests) {
    const pool = poolOf(pools, request.address, "any");
    const range = pool === undefined ? yield* blockWith(request.address) : blockOf(pool, request.address);
    if (range === undefined) nowhere.push(request.address);
    else byBlock.set(rangeText(range), [...(byBlock.get(rangeText(range)) ?? []), request]);
  }
  return { byBlock, nowhere };
}

function* blockWith(address: AddressRange): Steps<AddressRange | undefined> {
  const step: Step = { do: "list blocks", family: address.family };
  const answer = yield step;
  if (answer.is !== "listed") throw new StepFailed(step, answer.is === "failed" ? answer.error : answer);
  const blocks = answer.objects.flatMap(({ object }) => (object.kind === "block" ? [object.value.range] : []));
  return blocks.find((range) => holds(range, address));
}

function unique(requests: readonly ReleaseRequest[]): AddressRange[] {
  return [...new Map(requests.map(({ address }) => [rangeText(address), address])).values()];
}

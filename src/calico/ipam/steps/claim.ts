// Claims of blocks, made and given back, so that whoever crashes or loses a race leaves something that others can finish:
//
//   claim     affinity pending          ->  block created                ->  affinity confirmed
//   release   affinity pendingDeletion  ->  block deleted, or ownerless  ->  affinity deleted
//
// What is read and what it means:
//
//   affinity \ block   absent                 ours                                        another's, or nobody's
//   none               pending, create block  pending, write the block, confirm           pending, then the race is lost
//   not confirmed      pending, create block  pending, write the block, confirm           lost: the affinity is deleted
//   confirmed          pending, create block  use it                                      lost: the affinity is deleted
//
// The block is written although nothing in it changes: its number rises, and whoever was about to delete it loses.
import { type AddressRange, rangeText } from "../../../base/lib/index.ts";
import { type Affinity, type AffinityState, type Owner, ownerText } from "../affinity.ts";
import { type Block, isEmpty } from "../block.ts";
import { forWrite, newBlock, sweep, withoutOwner } from "../block-changes.ts";
import {
  create,
  getAffinity,
  getBlock,
  mostTries,
  readClock,
  remove,
  type Steps,
  TooManyConflicts,
  update,
  type Versioned,
} from "./step.ts";

export type Claimed =
  | { readonly is: "claimed"; readonly block: Versioned<Block> }
  | { readonly is: "lost"; readonly to: string | undefined };

export type Claim = { readonly owner: Owner; readonly range: AddressRange };

/** `known` is an affinity that was just read; without it, one is made. */
export function* claimBlock(claim: Claim, known?: Versioned<Affinity>): Steps<Claimed> {
  const cidr = rangeText(claim.range);
  for (let turn = 0; turn < mostTries; turn += 1) {
    const held = turn === 0 && known !== undefined ? { ...known, isNew: false } : yield* obtain(claim.owner, cidr);
    if (held === undefined) continue;
    const block = yield* getBlock(cidr);
    if (block !== undefined && block.value.owner !== ownerText(claim.owner)) {
      yield* remove({ kind: "affinity", owner: claim.owner, cidr }, held.revision);
      return { is: "lost", to: block.value.owner };
    }
    if (block !== undefined && held.value.state === "confirmed") return { is: "claimed", block };
    const done = yield* finishClaim(claim, held, block);
    if (done !== undefined) return { is: "claimed", block: done };
  }
  throw new TooManyConflicts();
}

/** Undefined: somebody was faster; what there is must be read again. */
function* finishClaim(
  claim: Claim,
  held: Versioned<Affinity> & { readonly isNew: boolean },
  block: Versioned<Block> | undefined,
): Steps<Versioned<Block> | undefined> {
  const pending = held.isNew ? held : yield* withState(held, "pending");
  if (pending === undefined) return undefined;
  const settled = block === undefined ? yield* makeOrFindBlock(claim) : yield* touchBlock(block);
  if (settled === undefined) return undefined;
  return (yield* withState(pending, "confirmed")) === undefined ? undefined : settled;
}

function* obtain(owner: Owner, cidr: string): Steps<(Versioned<Affinity> & { readonly isNew: boolean }) | undefined> {
  const value: Affinity = { owner, cidr, state: "pending", isDeleted: false };
  const revision = yield* create({ kind: "affinity", value });
  if (revision !== undefined) return { value, revision, isNew: true };
  const found = yield* getAffinity(owner, cidr);
  return found === undefined ? undefined : { ...found, isNew: false };
}

function* withState(
  { value, revision }: Versioned<Affinity>,
  state: AffinityState,
): Steps<Versioned<Affinity> | undefined> {
  const changed = { ...value, state };
  const written = yield* update({ kind: "affinity", value: changed }, revision);
  return written === undefined ? undefined : { value: changed, revision: written };
}

/** Another program of the same owner may be faster: then the block is as new as ours would be, and fine as it is. */
function* makeOrFindBlock({ owner, range }: Claim): Steps<Versioned<Block> | undefined> {
  const value = newBlock({ range, owner: ownerText(owner), nowNs: yield* readClock() });
  const revision = yield* create({ kind: "block", value });
  if (revision !== undefined) return { value, revision };
  const found = yield* getBlock(rangeText(range));
  return found?.value.owner === ownerText(owner) ? found : undefined;
}

function* touchBlock(block: Versioned<Block>): Steps<Versioned<Block> | undefined> {
  const value = forWrite(block.value);
  const revision = yield* update({ kind: "block", value }, block.revision);
  return revision === undefined ? undefined : { value, revision };
}

export type ReleaseOfClaim = Claim & {
  readonly mustBeEmpty: boolean;
  readonly cooldownSeconds: number;
  /** Given: the block must still be at this number. */
  readonly sequenceNumber?: bigint;
};
export type ClaimReleased =
  | { readonly is: "released" | "no-claim" }
  | { readonly is: "refused"; readonly reason: "changed" | "not-ours" | "not-empty"; readonly says: string };

export function* releaseClaim(request: ReleaseOfClaim): Steps<ClaimReleased> {
  const { owner } = request;
  const cidr = rangeText(request.range);
  const ref = { kind: "affinity", owner, cidr } as const;
  for (let turn = 0; turn < mostTries; turn += 1) {
    const affinity = yield* getAffinity(owner, cidr);
    if (affinity === undefined) return { is: "no-claim" };
    const found = yield* getBlock(cidr);
    const waiting = { nowNs: yield* readClock(), cooldownSeconds: request.cooldownSeconds };
    const block = found === undefined ? undefined : { ...found, value: sweep(found.value, waiting) };
    const refusal = block === undefined ? undefined : refusedBy(block.value, request);
    if (refusal?.reason === "not-ours") yield* remove(ref, affinity.revision);
    if (refusal !== undefined) return refusal;
    const leaving =
      affinity.value.state === "pendingDeletion" ? affinity : yield* withState(affinity, "pendingDeletion");
    if (leaving === undefined) continue;
    if (block !== undefined && !(yield* letGo(block))) continue;
    // A conflict here: its owner has begun to claim the block again, which is not what was to be released.
    yield* remove(ref, leaving.revision);
    return { is: "released" };
  }
  throw new TooManyConflicts();
}

function refusedBy(block: Block, request: ReleaseOfClaim): (ClaimReleased & { is: "refused" }) | undefined {
  const cidr = rangeText(block.range);
  if (block.owner !== ownerText(request.owner)) {
    return { is: "refused", reason: "not-ours", says: `block ${cidr} belongs to ${block.owner ?? "nobody"}` };
  }
  if (request.sequenceNumber !== undefined && request.sequenceNumber !== block.sequenceNumber) {
    return { is: "refused", reason: "changed", says: "IPAM block updated since we last read it" };
  }
  if (!request.mustBeEmpty || isEmpty(block)) return undefined;
  return { is: "refused", reason: "not-empty", says: `block '${cidr}' is not empty` };
}

/** The block goes if nothing is held in it, or else loses its owner. False: it has changed. */
function* letGo({ value, revision }: Versioned<Block>): Steps<boolean> {
  if (isEmpty(value)) {
    return (yield* remove({ kind: "block", cidr: rangeText(value.range) }, revision)) === "gone";
  }
  return (yield* update({ kind: "block", value: forWrite(withoutOwner(value)) }, revision)) !== undefined;
}

// Finds addresses for a request: in the owner's blocks, in a block it claims, in one that stands empty, and last in others'
// blocks. Configuration, reservations, pools and labels are part of the request, since a resident program has them already; blocks,
// affinities and handles are asked for step by step.

import { type AddressRange, type Family, parseRange, rangeText } from "../../../base/lib/index.ts";
import type { Labels } from "../../model/index.ts";
import { type Affinity, type Owner, ownerText, parseOwner } from "../affinity.ts";
import { type Attribute, type Block, cidrOf } from "../block.ts";
import { assign, sweep } from "../block-changes.ts";
import { type ChosenPools, choosePools, type Pool, poolOf, type Refusal, selects, type Use } from "../pools.ts";
import { isReserved, type Reservations } from "../reservations.ts";
import { assignInBlock } from "./assign-in-block.ts";
import { claimBlock, releaseClaim } from "./claim.ts";
import { listAffinities } from "./claims-of-many.ts";
import { existingInOrder, findBlock } from "./find-block.ts";
import { type HeldAddress, heldElsewhere, heldIn } from "./look-up.ts";
import {
  getBlock,
  mostTries,
  readClock,
  remove,
  type Step,
  StepFailed,
  type Steps,
  TooManyConflicts,
  type Versioned,
} from "./step.ts";

export type IpamSettings = {
  readonly strictAffinity: boolean;
  readonly autoAllocateBlocks: boolean;
  /** 0: the built-in limit. */
  readonly maxBlocksPerHost: number;
  readonly cooldownSeconds: number;
};

export type AssignRequest = {
  readonly owner: Owner;
  readonly family: Family;
  readonly count: number;
  readonly use: Use;
  readonly handle: string | undefined;
  /** Who holds the addresses; the handle is put in. */
  readonly secondary: { readonly [name: string]: string };
  readonly requestedPools: readonly string[];
  /** Undefined: not read, because no pool selects by them. Then the node is looked for before a block is claimed for it. */
  readonly nodeLabels: Labels | undefined;
  readonly namespaceLabels: Labels;
  readonly pools: readonly Pool[];
  readonly reservations: Reservations;
  readonly settings: IpamSettings;
  /** The request's own limit of blocks; 0: none. */
  readonly maxBlocks: number;
  readonly randomSeed: bigint;
  /** Who may ask twice and means the same: which of its handle's addresses are those that it asks for. */
  readonly isSame?: (held: Attribute) => boolean;
};

export type AssignResult =
  /** With fewer addresses than asked for, the notes say why. A block's mask comes with each. */
  | { readonly is: "assigned"; readonly addresses: readonly AssignedAddress[]; readonly notes: readonly string[] }
  /** What was assigned before is the caller's, to use or to give back. */
  | {
      readonly is: "refused";
      readonly reason: Refusal["reason"] | "block-limit" | "no-new-blocks";
      readonly says: string;
      readonly addresses: readonly AssignedAddress[];
    };
export type AssignedAddress = {
  readonly address: AddressRange;
  readonly block: AddressRange;
  /** Since an earlier request for the same. */
  readonly wasHeld?: true;
};

const builtInBlockLimit = 20;

export function* autoAssign(request: AssignRequest): Steps<AssignResult> {
  const chosen = poolsFor(request);
  if (chosen.is === "refused") return { ...chosen, addresses: [] };
  const work: Work = { request, pools: chosen.pools, addresses: [] };
  const owned = yield* fromOwnBlocks(work);
  yield* fromHandle(work);
  const refusal = yield* fromNewBlocks(work, owned);
  if (refusal !== undefined) return { is: "refused", ...refusal, addresses: work.addresses };
  if (isDone(work)) return { is: "assigned", addresses: work.addresses, notes: [] };
  if (request.settings.strictAffinity) {
    const notes = ["No more free affine blocks and strict affinity enabled"];
    return { is: "assigned", addresses: work.addresses, notes };
  }
  const exhausted = yield* borrow(work);
  const notes = isDone(work) ? [] : [`No IPs available in pools: [${exhausted.join(" ")}]`];
  return { is: "assigned", addresses: work.addresses, notes };
}

export type BlockEnsured =
  | { readonly is: "block"; readonly block: AddressRange }
  | { readonly is: "refused"; readonly reason: Refusal["reason"] | NoMoreBlocks["reason"]; readonly says: string };

/** That the owner has a block, before anybody asks it for an address. */
export function* ensureBlock(request: Omit<AssignRequest, "count" | "handle" | "secondary">): Steps<BlockEnsured> {
  const { owner } = request;
  const chosen = poolsFor(request);
  if (chosen.is === "refused") return chosen;
  const whole = { ...request, count: 0, handle: undefined, secondary: {} };
  const work: Work = { request: whole, pools: chosen.pools, addresses: [] };
  for (const { range, affinity } of yield* ownClaims(work)) {
    const claimed = yield* claimBlock({ owner, range }, affinity);
    if (claimed.is === "claimed") return { is: "block", block: range };
  }
  for (let turn = 0; turn < mostTries; turn += 1) {
    if (!request.settings.autoAllocateBlocks) break;
    const block = yield* newBlockFor(work);
    if (block === "none") break;
    if (block !== "lost") return { is: "block", block: block.value.range };
  }
  return { is: "refused", reason: "no-new-blocks", says: "failed to find or claim a block" };
}

function poolsFor(request: Omit<AssignRequest, "count" | "handle" | "secondary">): ChosenPools {
  const { owner, family, use, nodeLabels = {}, namespaceLabels, requestedPools: requested } = request;
  return choosePools(request.pools, { family, use, node: owner.name, nodeLabels, namespaceLabels, requested });
}

/** The addresses are added as they are found. */
type Work = { readonly request: AssignRequest; readonly pools: readonly Pool[]; readonly addresses: AssignedAddress[] };

function isDone({ request, addresses }: Work): boolean {
  return addresses.length >= request.count;
}

/** How many blocks of usable pools the owner has. */
function* fromOwnBlocks(work: Work): Steps<number> {
  const { owner, reservations } = work.request;
  const candidates = yield* ownClaims(work);
  let owned = candidates.length;
  for (const { range, affinity } of candidates) {
    if (isDone(work)) break;
    if (isReserved(reservations, range)) continue;
    const claimed = yield* claimBlock({ owner, range }, affinity);
    if (claimed.is === "claimed") yield* takeFrom(work, claimed.block);
    else owned -= 1;
  }
  // Its blocks show that the node is, or was there not long ago.
  if (owned === 0 && !isDone(work)) yield* requireNode(work.request);
  return owned;
}

type OwnClaim = { readonly range: AddressRange; readonly affinity: Versioned<Affinity> };

/** Claims in pools that no longer select the node are given back, if nothing is held there. */
function* ownClaims(work: Work): Steps<OwnClaim[]> {
  const { owner, family, pools, nodeLabels, settings } = work.request;
  const candidates: OwnClaim[] = [];
  for (const affinity of yield* listAffinities(owner, family)) {
    const { value, revision } = affinity;
    const range = parseRange(value.cidr);
    if (range === undefined) continue;
    if (value.isDeleted) {
      // Nobody would ever get it by name.
      yield* remove({ kind: "affinity", owner, cidr: value.cidr }, revision);
      continue;
    }
    if (poolOf(work.pools, range, "enabled") !== undefined) {
      candidates.push({ range, affinity });
      continue;
    }
    const pool = poolOf(pools, range, "enabled");
    if (pool === undefined || selects(pool.nodeSelector, nodeLabels ?? {})) continue;
    yield* releaseClaim({ owner, range, mustBeEmpty: true, cooldownSeconds: settings.cooldownSeconds });
  }
  return candidates;
}

function* requireNode({ owner, nodeLabels }: AssignRequest): Steps<void> {
  if (nodeLabels !== undefined || owner.type !== "host") return;
  const step: Step = { do: "read the node", name: owner.name };
  const answer = yield step;
  if (answer.is !== "node") throw new StepFailed(step, answer.is === "failed" ? answer.error : answer);
}

/** Before a block is claimed or borrowed from: the address that an earlier request got may be in a block that is full now. */
function* fromHandle(work: Work): Steps<void> {
  const { handle } = work.request;
  if (isDone(work) || handle === undefined || work.request.isSame === undefined) return;
  keep(work, yield* heldElsewhere(handle, (block) => heldFor(work, block)));
}

/** Only what the request could get now: its pools may be others, or one of them disabled, since the earlier one. */
function heldFor({ request, pools }: Work, block: Block): readonly HeldAddress[] {
  const { handle, family, isSame } = request;
  if (handle === undefined || isSame === undefined || block.range.family !== family) return [];
  if (poolOf(pools, block.range, "enabled") === undefined) return [];
  return heldIn(block, handle).filter(({ attribute }) => isSame(attribute));
}

function keep(work: Work, held: readonly HeldAddress[]): void {
  for (const { address, block } of held.slice(0, work.request.count - work.addresses.length)) {
    work.addresses.push({ address, block, wasHeld: true });
  }
}

type NoMoreBlocks = { readonly reason: "block-limit" | "no-new-blocks"; readonly says: string };

/** Undefined: done, or there is no block to be had. */
function* fromNewBlocks(work: Work, ownedBefore: number): Steps<NoMoreBlocks | undefined> {
  const { settings, maxBlocks } = work.request;
  const limits = [settings.maxBlocksPerHost, maxBlocks].filter((limit) => limit > 0);
  const limit = limits.length === 0 ? builtInBlockLimit : Math.min(...limits);
  let owned = ownedBefore;
  for (let turn = 0; !isDone(work); turn += 1) {
    if (turn === mostTries) throw new TooManyConflicts();
    if (owned >= limit) {
      return { reason: "block-limit", says: "cannot allocate new block due to per host block limit" };
    }
    if (!settings.autoAllocateBlocks) return { reason: "no-new-blocks", says: "failed to find or claim a block" };
    const block = yield* newBlockFor(work);
    if (block === "none") return undefined;
    if (block === "lost") continue;
    owned += 1;
    yield* takeFrom(work, block);
  }
  return undefined;
}

function* newBlockFor(work: Work): Steps<Versioned<Block> | "lost" | "none"> {
  const { owner, reservations, randomSeed } = work.request;
  const order = { node: nameForOrder(owner), randomSeed };
  const { blocks, nowNs } = yield* listBlocks(work.request);
  const search = { pools: work.pools, blocks, reservations, order, owner: ownerText(owner), nowNs };
  const found = findBlock(search);
  if (found.is === "claim") {
    const claimed = yield* claimBlock({ owner, range: found.range });
    return claimed.is === "claimed" ? claimed.block : "lost";
  }
  for (const block of found.blocks) {
    if (!(yield* takeOver(work.request, block))) continue;
    const claimed = yield* claimBlock({ owner, range: block.range });
    if (claimed.is === "claimed") return claimed.block;
  }
  return "none";
}

function nameForOrder({ type, name }: Owner): string {
  return type === "host" ? name : `${type}-${name}`;
}

/** The block must be as it was seen: its owner may be about to use it. */
function* takeOver({ settings }: AssignRequest, block: Block): Steps<boolean> {
  const before = parseOwner(block.owner);
  const { range, sequenceNumber } = block;
  if (before !== undefined) {
    const { cooldownSeconds } = settings;
    const gone = yield* releaseClaim({ owner: before, range, mustBeEmpty: true, sequenceNumber, cooldownSeconds });
    return gone.is === "released";
  }
  const current = yield* getBlock(cidrOf(block));
  if (current === undefined) return true;
  if (current.value.sequenceNumber !== sequenceNumber) return false;
  return (yield* remove({ kind: "block", cidr: cidrOf(block) }, current.revision)) === "gone";
}

/** The pools that were walked to their end. */
function* borrow(work: Work): Steps<string[]> {
  const { owner, reservations, randomSeed } = work.request;
  const order = { node: nameForOrder(owner), randomSeed };
  const { blocks } = yield* listBlocks(work.request);
  const exhausted: string[] = [];
  for (const pool of work.pools) {
    for (const { range } of existingInOrder(pool, blocks, order)) {
      if (isDone(work)) return exhausted;
      if (isReserved(reservations, range)) continue;
      const block = yield* getBlock(rangeText(range));
      if (block !== undefined) yield* takeFrom(work, block);
    }
    if (!isDone(work)) exhausted.push(rangeText(pool.range));
  }
  return exhausted;
}

function* takeFrom(work: Work, block: Versioned<Block>): Steps<void> {
  const { owner, handle, secondary, reservations, settings } = work.request;
  const attribute: Attribute = handle === undefined ? { secondary } : { handle_id: handle, secondary };
  const { strictAffinity, cooldownSeconds } = settings;
  const done = yield* assignInBlock(block, {
    handle,
    attribute,
    cooldownSeconds,
    choose: (current) => {
      const count = work.request.count - work.addresses.length;
      return assign(current, { attribute, owner: ownerText(owner), strictAffinity, count, reservations });
    },
    ...(work.request.isSame === undefined ? {} : { held: (current: Block) => heldFor(work, current) }),
  });
  if (done.is === "held") keep(work, done.held);
  if (done.is !== "assigned") return;
  work.addresses.push(...done.addresses.map((address) => ({ address, block: done.block.range })));
}

function* listBlocks({ family, settings }: AssignRequest): Steps<{ blocks: Block[]; nowNs: bigint }> {
  const step: Step = { do: "list blocks", family };
  const answer = yield step;
  if (answer.is !== "listed") throw new StepFailed(step, answer.is === "failed" ? answer.error : answer);
  const waiting = { nowNs: yield* readClock(), cooldownSeconds: settings.cooldownSeconds };
  const blocks = answer.objects.flatMap(({ object }) =>
    object.kind === "block" ? [sweep(object.value, waiting)] : [],
  );
  return { blocks, nowNs: waiting.nowNs };
}

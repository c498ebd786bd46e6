// Claims on more than one block: all of a range for an owner, or all that an owner has, or that lie in a pool that goes.
import { type AddressRange, type Family, holds, parseRange, rangeText } from "../../../base/lib/index.ts";
import { type Affinity, type Owner, ownerText } from "../affinity.ts";
import { blockAt, numberOfBlocks } from "../block-order.ts";
import { type Pool, poolOf } from "../pools.ts";
import { type ClaimReleased, claimBlock, releaseClaim } from "./claim.ts";
import { getBlock, remove, type Step, StepFailed, type Steps, type Versioned } from "./step.ts";

export function* listAffinities(owner: Owner | undefined, family: Family): Steps<Versioned<Affinity>[]> {
  const step: Step = { do: "list affinities", family, ...(owner === undefined ? {} : { owner }) };
  const answer = yield step;
  if (answer.is !== "listed") throw new StepFailed(step, answer.is === "failed" ? answer.error : answer);
  return answer.objects.flatMap(({ object, revision }) =>
    object.kind === "affinity" ? [{ value: object.value, revision }] : [],
  );
}

export type RangeClaimed =
  | {
      readonly is: "claimed";
      readonly claimed: readonly AddressRange[];
      /** Those that another owner has. */
      readonly refused: readonly AddressRange[];
    }
  | { readonly is: "refused"; readonly says: string };

/** Nobody claims more by hand, and each takes three writes. */
const mostBlocks = 65_536n;

export function* claimRange(
  { owner, range }: { readonly owner: Owner; readonly range: AddressRange },
  pools: readonly Pool[],
): Steps<RangeClaimed> {
  const blocks = blocksOfRange(range, pools);
  if (blocks.is === "refused") return blocks;
  const claimed: AddressRange[] = [];
  const refused: AddressRange[] = [];
  for (const block of blocks.ranges) {
    const existing = yield* getBlock(rangeText(block));
    const isOthers = existing !== undefined && existing.value.owner !== ownerText(owner);
    const done = isOthers ? "lost" : (yield* claimBlock({ owner, range: block })).is;
    (done === "claimed" ? claimed : refused).push(block);
  }
  return { is: "claimed", claimed, refused };
}

/** The blocks that make up a range. The sentences are the original's. */
export function blocksOfRange(
  range: AddressRange,
  pools: readonly Pool[],
):
  | { readonly is: "blocks"; readonly ranges: readonly AddressRange[] }
  | { readonly is: "refused"; readonly says: string } {
  const text = rangeText(range);
  const pool = poolOf(pools, range, "any");
  if (pool === undefined) {
    return { is: "refused", says: `The requested CIDR (${text}) is not within any configured pools.` };
  }
  const source = { range, blockSize: pool.blockSize };
  const count = numberOfBlocks(source);
  if (count === 0n) return { is: "refused", says: `The requested CIDR (${text}) is smaller than the minimum.` };
  if (count > mostBlocks) {
    return { is: "refused", says: `The requested CIDR (${text}) has more than ${mostBlocks} blocks.` };
  }
  return { is: "blocks", ranges: Array.from({ length: Number(count) }, (_, at) => blockAt(source, BigInt(at))) };
}

export type ClaimOf = { readonly owner: Owner; readonly cidr: string };
export type ClaimsReleased = {
  readonly released: readonly ClaimOf[];
  readonly refused: readonly (ClaimOf & Pick<ClaimReleased & { is: "refused" }, "reason" | "says">)[];
};

/** Of the owner, or of all; all of a family, or those in a range. One that is refused keeps none of the others. */
export function* releaseClaims(request: {
  readonly owner?: Owner;
  readonly family: Family;
  readonly within?: AddressRange;
  readonly mustBeEmpty: boolean;
  readonly cooldownSeconds: number;
}): Steps<ClaimsReleased> {
  const released: ClaimOf[] = [];
  const refused: (ClaimOf & { reason: (ClaimReleased & { is: "refused" })["reason"]; says: string })[] = [];
  const { mustBeEmpty, cooldownSeconds, within } = request;
  for (const { value, revision } of yield* listAffinities(request.owner, request.family)) {
    const { owner, cidr } = value;
    const range = parseRange(cidr);
    if (range === undefined || (within !== undefined && !holds(within, range))) continue;
    if (value.isDeleted) {
      yield* remove({ kind: "affinity", owner, cidr }, revision);
      continue;
    }
    const done = yield* releaseClaim({ owner, range, mustBeEmpty, cooldownSeconds });
    if (done.is === "refused") refused.push({ owner, cidr, reason: done.reason, says: done.says });
    else released.push({ owner, cidr });
  }
  return { released, refused };
}

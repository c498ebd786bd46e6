// Finishes what somebody has begun with a claim and not ended: deletions, claims, releases; and takes claims from nodes that do not
// exist. A block that holds something is never deleted.
import { parseRange } from "../../../../base/lib/index.ts";
import { type Owner, ownerText } from "../../affinity.ts";
import { isEmpty } from "../../block.ts";
import { forWrite, sweep, withoutOwner } from "../../block-changes.ts";
import { claimBlock, releaseClaim } from "../../steps/claim.ts";
import {
  getAffinity,
  getBlock,
  getHandle,
  type Ref,
  readClock,
  remove,
  type Step,
  StepFailed,
  update,
} from "../../steps/step.ts";
import type { Mend } from "../finding.ts";
import { type MendSteps, nodeExists, within } from "./mend-step.ts";
import type { Mended, MendOptions } from "./mended.ts";

const changed = (says: string): Mended => ({ is: "changed", says });

/** Whoever gets a marked object finishes its deletion; here somebody gets it. */
export function* finishDeletion(ref: Ref): MendSteps<Mended> {
  if (ref.kind === "handle") yield* within(getHandle(ref.id));
  else if (ref.kind === "affinity") yield* within(getAffinity(ref.owner, ref.cidr));
  else return yield* finishBlock(ref);
  return { is: "mended" };
}

/** Only an empty block is ever marked; one that is not was changed by hand. */
function* finishBlock(ref: Ref & { kind: "block" }): MendSteps<Mended> {
  const step: Step = { do: "get", ref };
  const answer = yield step;
  if (answer.is === "failed") throw new StepFailed(step, answer.error);
  if (answer.is !== "found" || answer.object.kind !== "block") return changed("it is gone");
  if (!isEmpty(answer.object.value)) return { is: "left", says: "addresses are held in it: remove the mark by hand" };
  yield* within(getBlock(ref.cidr));
  return { is: "mended" };
}

export function* finishClaim({ owner, cidr }: Mend & { is: "claim" }): MendSteps<Mended> {
  const range = parseRange(cidr);
  if (range === undefined) return { is: "left", says: `${cidr} is no CIDR` };
  if (owner.type === "host" && !(yield* nodeExists(owner.name))) return changed(`node ${owner.name} is gone`);
  const block = yield* within(getBlock(cidr));
  if (block?.value.owner !== ownerText(owner)) return changed("the block has another owner now");
  const done = yield* within(claimBlock({ owner, range }));
  return done.is === "claimed" ? { is: "mended" } : changed(`the block belongs to ${done.to ?? "nobody"} now`);
}

export function* dropAffinity({ owner, cidr, revision }: Mend & { is: "affinity" }): MendSteps<Mended> {
  const affinity = yield* within(getAffinity(owner, cidr));
  if (affinity === undefined) return changed("it is gone");
  if (affinity.revision !== revision) return changed("the affinity was written meanwhile");
  const block = yield* within(getBlock(cidr));
  if (block?.value.owner === ownerText(owner)) return changed("the block belongs to the node now");
  // Who claims writes the affinity first, so a claim that began meanwhile makes this fail.
  const done = yield* within(remove({ kind: "affinity", owner, cidr }, revision));
  return done === "gone" ? { is: "mended" } : changed("the affinity was written meanwhile");
}

/** What is held in a block of a node that is gone stays held: it may be borrowed. The block is then nobody's, and goes when it is empty. */
export function* releaseOrphan(
  { owner, cidr, because }: Mend & { is: "orphan" },
  { cooldownSeconds }: MendOptions,
): MendSteps<Mended> {
  const range = parseRange(cidr);
  if (range === undefined) return { is: "left", says: `${cidr} is no CIDR` };
  const mustBeEmpty = because === "no pool";
  if (because === "node gone" && owner !== undefined && (yield* nodeExists(owner.name))) {
    return changed(`node ${owner.name} exists`);
  }
  if (owner !== undefined) {
    const done = yield* within(releaseClaim({ owner, range, mustBeEmpty, cooldownSeconds }));
    if (done.is === "released") return { is: "mended" };
    if (done.is === "refused")
      return done.reason === "not-empty" ? { is: "left", says: done.says } : changed(done.says);
  }
  return yield* releaseUnclaimed({ owner, cidr, mustBeEmpty, cooldownSeconds });
}

/** A block whose owner has no affinity to it. */
function* releaseUnclaimed({ owner, cidr, mustBeEmpty, cooldownSeconds }: Unclaimed): MendSteps<Mended> {
  const block = yield* within(getBlock(cidr));
  if (block === undefined) return changed("it is gone");
  const expected = owner === undefined ? undefined : ownerText(owner);
  if (block.value.owner !== expected) return changed("the block has another owner now");
  const nowNs = yield* within(readClock());
  const value = sweep(block.value, { nowNs, cooldownSeconds });
  if (!isEmpty(value)) {
    if (mustBeEmpty) return { is: "left", says: "addresses are held in it" };
    const written = yield* within(update({ kind: "block", value: forWrite(withoutOwner(value)) }, block.revision));
    return written === undefined ? changed("the block was written meanwhile") : { is: "mended" };
  }
  const done = yield* within(remove({ kind: "block", cidr }, block.revision));
  return done === "gone" ? { is: "mended" } : changed("the block was written meanwhile");
}

type Unclaimed = {
  readonly owner: Owner | undefined;
  readonly cidr: string;
  readonly mustBeEmpty: boolean;
  readonly cooldownSeconds: number;
};

// Mends what an audit has found, one finding after another. Everything is read again and asked again before a write, and each write
// is a compare-and-swap: if anything has changed since the audit, nothing is done, and the next audit looks again. Only
// findings that are old enough (patience.ts) belong here.
import { addressText } from "../../../../base/lib/index.ts";
import { releaseIps } from "../../steps/release-addresses.ts";
import { StepFailed, TooManyConflicts } from "../../steps/step.ts";
import type { Finding, Mend } from "../finding.ts";
import { userText } from "../uses.ts";
import { mendBlock } from "./mend-block.ts";
import { dropAffinity, finishClaim, finishDeletion, releaseOrphan } from "./mend-claims.ts";
import { mendHandle } from "./mend-handle.ts";
import { type MendSteps, NotAnswered, whoUses, within } from "./mend-step.ts";
import type { Mended, MendOptions, MendResult } from "./mended.ts";

/** Blocks first, since the rest relies on them; addresses before handles and claims, which they keep. */
const order: readonly Mend["is"][] = ["deletion", "block", "address", "handle", "affinity", "claim", "orphan"];

export function* mendFindings(findings: readonly Finding[], options: MendOptions): MendSteps<MendResult[]> {
  const results: MendResult[] = [];
  for (const kind of order) {
    for (const finding of findings) {
      if (finding.mend?.is !== kind) continue;
      results.push({ finding, outcome: yield* mendOne(finding.mend, options) });
    }
  }
  return results;
}

export function* mendOne(mend: Mend, options: MendOptions): MendSteps<Mended> {
  try {
    return yield* mended(mend, options);
  } catch (error) {
    const isExpected = error instanceof StepFailed || error instanceof TooManyConflicts || error instanceof NotAnswered;
    if (!isExpected) throw error;
    return { is: "failed", error };
  }
}

function* mended(mend: Mend, options: MendOptions): MendSteps<Mended> {
  switch (mend.is) {
    case "block":
      return yield* mendBlock(mend.block);
    case "deletion":
      return yield* finishDeletion(mend.ref);
    case "address":
      return yield* releaseLeaked(mend, options);
    case "handle":
      return yield* mendHandle(mend);
    case "claim":
      return yield* finishClaim(mend);
    case "affinity":
      return yield* dropAffinity(mend);
    case "orphan":
      return yield* releaseOrphan(mend, options);
  }
}

/** Handle and sequence number name the very allocation: one that was made since is another. */
function* releaseLeaked(
  { address, heldFor, handle, sequenceNumber }: Mend & { is: "address" },
  options: MendOptions,
): MendSteps<Mended> {
  const text = addressText(address.family, address.first);
  const users = yield* whoUses(text, heldFor);
  if (users === "starting") return { is: "changed", says: `the pod of ${text} has not said its addresses yet` };
  const [use] = users ?? [];
  if (use !== undefined) return { is: "changed", says: `${text} is used by ${userText(use.user)}` };
  const request = { address, sequenceNumber, ...(handle === undefined ? {} : { handle }) };
  const done = yield* within(releaseIps([request], options));
  const [conflict] = done.conflicts;
  if (conflict !== undefined) return { is: "changed", says: conflict.says };
  if (done.released.length === 0) return { is: "changed", says: `${text} is free already` };
  return { is: "mended" };
}

// Puts the inside of a block right, from its allocations. What it adds to the free addresses nobody must be using: a block that has
// lost an allocation looks the same as one that has lost a free ordinal.
import { addressText } from "../../../../base/lib/index.ts";
import type { Block } from "../../block.ts";
import { forWrite } from "../../block-changes.ts";
import { update, type Versioned } from "../../steps/step.ts";
import { repaired } from "../check-blocks.ts";
import { userText } from "../uses.ts";
import { type MendSteps, whoUses, within } from "./mend-step.ts";
import type { Mended } from "./mended.ts";

export function* mendBlock({ value: block, revision }: Versioned<Block>): MendSteps<Mended> {
  const sound = repaired(block);
  if (sound === undefined) return { is: "left", says: "its allocations do not say what it should be" };
  const known = new Set(block.unallocated);
  for (const ordinal of sound.unallocated.filter((each) => !known.has(each))) {
    const address = addressText(block.range.family, block.range.first + BigInt(ordinal));
    const users = yield* whoUses(address, { is: "unknown" });
    if (users === undefined || users === "starting") continue;
    const names = users.map(({ user }) => userText(user)).join(", ");
    return { is: "left", says: `${address} is used by ${names}, and the block does not hold it` };
  }
  const written = yield* within(update({ kind: "block", value: forWrite(sound) }, revision));
  return written === undefined ? { is: "changed", says: "the block was written meanwhile" } : { is: "mended" };
}

// Makes a handle count what blocks hold under it. One that is as the audit saw it, and was so for longer than any request takes, is
// nobody's work in progress; whoever raises it now gets it, and not us.
import { isUnused, newHandle } from "../../handle.ts";
import { create, getBlock, getHandle, remove, update } from "../../steps/step.ts";
import { countHeld } from "../check-handles.ts";
import type { Mend } from "../finding.ts";
import { type MendSteps, within } from "./mend-step.ts";
import type { Mended } from "./mended.ts";

export function* mendHandle({ id, revision, blocks }: Mend & { is: "handle" }): MendSteps<Mended> {
  const found = yield* within(getHandle(id));
  if (found?.revision !== revision) return { is: "changed", says: "the handle was written meanwhile" };
  const counts = new Map<string, number>();
  for (const cidr of new Set([...blocks, ...(found?.value.blocks.keys() ?? [])])) {
    const block = yield* within(getBlock(cidr));
    const held = block === undefined ? 0 : countHeld(block.value, id);
    if (held > 0) counts.set(cidr, held);
  }
  const handle = { ...(found?.value ?? newHandle(id)), blocks: counts };
  if (found === undefined) {
    if (isUnused(handle)) return { is: "changed", says: "the addresses were given back meanwhile" };
    return outcome((yield* within(create({ kind: "handle", value: handle }))) !== undefined);
  }
  if (isUnused(handle)) {
    return outcome((yield* within(remove({ kind: "handle", id }, found.revision))) === "gone");
  }
  return outcome((yield* within(update({ kind: "handle", value: handle }, found.revision))) !== undefined);
}

function outcome(isWritten: boolean): Mended {
  return isWritten ? { is: "mended" } : { is: "changed", says: "the handle was written meanwhile" };
}

// Handles and blocks count the same: how many addresses each handle holds in each block. A handle that counts too much is what a
// crash leaves; one that counts too little, or is missing, means addresses that no release by handle will ever find.
import { type Block, handleText } from "../block.ts";
import type { Handle } from "../handle.ts";
import type { Versioned } from "../steps/step.ts";
import type { Allocation } from "./allocations.ts";
import { type Finding, fixCommand } from "./finding.ts";

export type HandleTally = {
  /** Handles that exist and hold nothing in any block. */
  readonly idle: readonly Versioned<Handle>[];
  readonly matched: number;
  /** Handles that blocks name and that do not exist. */
  readonly missing: readonly string[];
};

export function tallyHandles(handles: readonly Versioned<Handle>[], allocations: readonly Allocation[]): HandleTally {
  const held = new Set(allocations.flatMap(({ handle }) => (handle === undefined ? [] : [handle])));
  const known = new Set(handles.map(({ value }) => handleText(value.id)));
  const idle = handles.filter(({ value }) => !held.has(handleText(value.id)));
  return { idle, matched: handles.length - idle.length, missing: [...held].filter((id) => !known.has(id)) };
}

/** How many addresses the block holds under that handle. */
export function countHeld(block: Block, id: string): number {
  const wanted = handleText(id);
  return block.allocations.reduce<number>((count, index) => {
    const held = index === null ? undefined : block.attributes[index]?.handle_id;
    return held !== undefined && handleText(held) === wanted ? count + 1 : count;
  }, 0);
}

export function checkHandles(handles: readonly Versioned<Handle>[], allocations: readonly Allocation[]): Finding[] {
  const held = new Map<string, Map<string, number>>();
  for (const { handle, block } of allocations) {
    if (handle === undefined) continue;
    const counts = held.get(handle) ?? new Map<string, number>();
    counts.set(block, (counts.get(block) ?? 0) + 1);
    held.set(handle, counts);
  }
  const live = handles.filter(({ value }) => !value.isDeleted);
  const known = new Map(live.map((handle) => [handleText(handle.value.id), handle]));
  const none = new Map<string, number>();
  return [
    ...live.flatMap((handle) => tooMuch(handle, held.get(handleText(handle.value.id)) ?? none)),
    ...[...held].flatMap(([id, counts]) => tooLittle(id, known.get(id), counts)),
  ];
}

function tooMuch({ value, revision }: Versioned<Handle>, held: ReadonlyMap<string, number>): Finding[] {
  const wrong = [...value.blocks].filter(([cidr, count]) => count > (held.get(cidr) ?? 0));
  if (wrong.length === 0 && (value.blocks.size > 0 || held.size > 0)) return [];
  const counts = wrong.map(([cidr, count]) => `${count} in ${cidr}, which holds ${held.get(cidr) ?? 0}`);
  return [
    {
      code: "HANDLE_COUNTS_TOO_MUCH",
      key: `HANDLE_COUNTS_TOO_MUCH ${value.id} ${revision}`,
      says: `handle ${value.id} counts ${counts.join(" and ") || "nothing"}`,
      command: fixCommand,
      mend: { is: "handle", id: value.id, revision, blocks: [...new Set([...value.blocks.keys(), ...held.keys()])] },
    },
  ];
}

function tooLittle(id: string, handle: Versioned<Handle> | undefined, held: ReadonlyMap<string, number>): Finding[] {
  const wrong = [...held].filter(([cidr, count]) => (handle?.value.blocks.get(cidr) ?? 0) < count);
  if (wrong.length === 0) return [];
  const counts = wrong.map(([cidr, count]) => `${count} in ${cidr}`);
  const seen = handle === undefined ? "does not exist" : "counts fewer";
  return [
    {
      code: "HANDLE_MISSING",
      key: `HANDLE_MISSING ${id} ${handle?.revision ?? ""}`,
      says: `handle ${id} holds ${counts.join(" and ")}, and ${seen}: no release by that handle will find them`,
      command: fixCommand,
      mend: {
        is: "handle",
        id,
        revision: handle?.revision,
        blocks: [...held.keys(), ...(handle?.value.blocks.keys() ?? [])],
      },
    },
  ];
}

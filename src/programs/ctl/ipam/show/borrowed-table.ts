// Addresses that a node took from another node's block, as `ipam show --show-borrowed` prints them.
import { addressText, isRecord } from "../../../../base/lib/index.ts";
import { boxTable } from "../../box-table.ts";
import type { StoredBlock } from "./stored-blocks.ts";

const columns = ["IP", "BORROWING-NODE", "BLOCK", "BLOCK OWNER", "TYPE", "ALLOCATED-TO"].map((heading) => ({
  heading,
}));

/** What of a block is borrowed, as rows, and how many allocations have no node. */
export type Borrowed = { readonly rows: readonly (readonly string[])[]; readonly withoutNode: number };

export function borrowedIn(block: StoredBlock): Borrowed {
  const rows: string[][] = [];
  let withoutNode = 0;
  const owner = ownerNode(block);
  for (const { address, attributes } of allocations(block)) {
    const { node = "" } = attributes;
    if (node === "") withoutNode += 1;
    else if (node !== owner) rows.push([address, node, block.cidr, owner, ...allocatedTo(attributes)]);
  }
  return { rows, withoutNode };
}

export function borrowedTable(blocks: readonly Borrowed[]): string {
  const withoutNode = blocks.reduce((sum, block) => sum + block.withoutNode, 0);
  const note =
    `\nNote: found ${withoutNode} IP allocations without an explicit node association. ` +
    "Unable to determine if they are borrowed.\n";
  const rows = blocks.flatMap((block) => block.rows);
  return boxTable(columns, rows) + (withoutNode === 0 ? "" : note);
}

type Texts = { readonly [name: string]: string | undefined };

function* allocations({ range, spec }: StoredBlock): Generator<{ address: string; attributes: Texts }> {
  const held: unknown[] = Array.isArray(spec.allocations) ? spec.allocations : [];
  const entries: unknown[] = Array.isArray(spec.attributes) ? spec.attributes : [];
  for (const [ordinal, index] of held.entries()) {
    if (typeof index !== "number") continue;
    yield { address: addressText(range.family, range.first + BigInt(ordinal)), attributes: ownerOf(entries[index]) };
  }
}

function ownerOf(entry: unknown): Texts {
  const secondary = isRecord(entry) ? entry.secondary : undefined;
  if (!isRecord(secondary)) return {};
  return Object.fromEntries(
    Object.entries(secondary).map(([name, value]) => [name, typeof value === "string" ? value : undefined]),
  );
}

/** "" is nobody. A virtual owner has a name as a node has. */
function ownerNode({ spec: { affinity } }: StoredBlock): string {
  return typeof affinity === "string" ? affinity.slice(affinity.indexOf(":") + 1) : "";
}

function allocatedTo(attributes: Texts): [type: string, to: string] {
  const { pod, "vmi-name": virtualMachine, namespace = "", type = "" } = attributes;
  if (virtualMachine !== undefined) return ["vmi", `${namespace}/${virtualMachine}`];
  if (pod !== undefined) return ["pod", `${namespace}/${pod}`];
  return [type, ""];
}

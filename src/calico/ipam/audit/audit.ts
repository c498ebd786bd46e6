// The audit of address management: what was read goes in, what is wrong comes out, with everything that `ipam check` prints. It
// knows blocks, affinities, handles and pools, and the pods, nodes and services that use addresses. Pure; audit/mend.ts mends.
import type { Block } from "../block.ts";
import { cidrOf } from "../block.ts";
import { type Allocation, allocationsOf } from "./allocations.ts";
import { type AddressTally, checkAddresses, tallyAddresses } from "./check-addresses.ts";
import { checkBlock, checkOverlaps, invalidWords } from "./check-blocks.ts";
import { checkClaims } from "./check-claims.ts";
import { checkHandles, type HandleTally, tallyHandles } from "./check-handles.ts";
import type { Finding } from "./finding.ts";
import type { Audited } from "./stored.ts";

export type AuditReport = {
  /** In the order of the blocks as they were read, and of the addresses in each. */
  readonly allocations: readonly Allocation[];
  /** Nodes by how many addresses they have, most first; equal ones by name. */
  readonly allocationsByNode: readonly { readonly node: string; readonly count: number }[];
  readonly addresses: AddressTally;
  readonly handles: HandleTally;
  /** What the original calls invalid, in its words. */
  readonly invalidBlocks: readonly { readonly cidr: string; readonly says: string }[];
  readonly findings: readonly Finding[];
};

export function audit(audited: Audited): AuditReport {
  const { blocks, handles, uses, unreadable, nowNs } = audited;
  const allocations = blocks.flatMap(({ value }) => allocationsOf(value));
  const addresses = tallyAddresses(audited, allocations);
  return {
    allocations,
    allocationsByNode: byNode(allocations),
    addresses,
    handles: tallyHandles(handles, allocations),
    invalidBlocks: blocks.flatMap(({ value }) => invalid(value, nowNs)),
    findings: [
      ...unreadable.map(
        ({ kind, name, why }): Finding => ({
          code: "BLOCK_UNREADABLE",
          key: `BLOCK_UNREADABLE ${kind} ${name}`,
          says: `${kind} ${name} cannot be read: ${why}`,
          command: `look at ${kind} ${name}, and correct or delete it by hand`,
          mend: undefined,
        }),
      ),
      ...blocks.flatMap(checkBlock),
      ...checkOverlaps(blocks),
      ...checkClaims(audited),
      ...checkAddresses(addresses, allocations, uses),
      ...checkHandles(handles, allocations),
    ],
  };
}

function invalid(block: Block, nowNs: bigint) {
  const says = invalidWords(block, nowNs);
  return says === undefined ? [] : [{ cidr: cidrOf(block), says }];
}

function byNode(allocations: readonly Allocation[]) {
  const counts = new Map<string, number>();
  for (const { node } of allocations) counts.set(node, (counts.get(node) ?? 0) + 1);
  return [...counts]
    .map(([node, count]) => ({ node, count }))
    .sort((a, b) => b.count - a.count || (a.node < b.node ? -1 : Number(a.node > b.node)));
}

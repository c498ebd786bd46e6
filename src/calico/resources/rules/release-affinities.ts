// Takes nodes' claims on blocks back, as the original does when a pool or a node goes: the affinity says that it is being
// deleted, then the block goes if nothing is allocated in it, or else loses its owner, then the affinity goes. Whoever
// looks in between sees a claim under way and leaves the block alone.
import type { JsonRecord } from "../../../base/lib/index.ts";
import { cidrName } from "../names.ts";
import { isResourceError } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import type { Neighbours } from "./rule.ts";

export async function releaseAffinities(
  neighbours: Neighbours,
  isMeant: (affinity: V3Object) => boolean,
): Promise<void> {
  for (const affinity of (await listed(neighbours, "BlockAffinity")).filter(isMeant)) {
    const id = { namespace: "", name: affinity.metadata.name ?? "" };
    await neighbours.edit("BlockAffinity", id, (current) =>
      current === undefined ? "nothing" : { ...current, spec: { ...current.spec, state: "pendingDeletion" } },
    );
    await releaseBlock(neighbours, affinity.spec);
    await neighbours.edit("BlockAffinity", id, (current) => (current === undefined ? "nothing" : "delete"));
  }
}

async function listed(neighbours: Neighbours, kind: "BlockAffinity"): Promise<readonly V3Object[]> {
  try {
    return await neighbours.list(kind);
  } catch (error) {
    if (isResourceError(error, "no-such-kind")) return []; // a cluster with another IPAM
    throw error;
  }
}

async function releaseBlock(neighbours: Neighbours, { cidr, node, type }: JsonRecord): Promise<void> {
  const name = cidrName(String(cidr));
  if (name === undefined) return;
  const owner = `${type || "host"}:${node}`;
  await neighbours.edit("IPAMBlock", { namespace: "", name }, (block) => {
    if (block === undefined || block.spec.affinity !== owner) return "nothing";
    if (isEmpty(block.spec)) return "delete";
    const { affinity: _, affinityClaimTime: __, ...spec } = block.spec;
    return { ...block, spec: { ...spec, sequenceNumber: next(spec.sequenceNumber) } };
  });
}

function isEmpty({ allocations, unallocated }: JsonRecord): boolean {
  return Array.isArray(allocations) && Array.isArray(unallocated) && allocations.length === unallocated.length;
}

/** Sequence numbers are beyond what a double holds, so they come as bigints then. */
function next(sequenceNumber: unknown): bigint {
  return BigInt(typeof sequenceNumber === "bigint" || typeof sequenceNumber === "number" ? sequenceNumber : 0) + 1n;
}

// Pools: no two overlap, blocks in use keep their size, and a pool that goes gives its blocks back first. What a pool by
// itself must be, and what of it must not change, is in its kind's file.
import { type JsonRecord, mask, parseCidr } from "../../../base/lib/index.ts";
import type { Problem } from "../../kinds/index.ts";
import { isResourceError, refuse } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import { releaseAffinities } from "./release-affinities.ts";
import type { Neighbours, Rules } from "./rule.ts";

/** Allocations that are under way when a pool is disabled may finish. */
const settleMs = 500;

export const ipPoolRules: Rules = {
  comparesWithStored: true,
  problems: async (pool, { isNew, neighbours }) =>
    isNew ? overlapProblems(pool, await neighbours.list("IPPool")) : [],
  check: async (pool, { isNew, neighbours }) => {
    if (isNew) refuse(blockProblems(pool.spec, await blocksOf(neighbours)));
  },
  beforeDelete: async (id, { neighbours, ipam, revision, signal }) => {
    const pool = await neighbours.get("IPPool", id);
    const isEnabled = pool.spec.disabled !== true;
    if (isEnabled) {
      // The first write meets what the caller knows, so that a conflict is found here.
      const metadata = { ...pool.metadata, ...(revision === undefined ? {} : { resourceVersion: revision }) };
      await neighbours.update({ ...pool, metadata, spec: { ...pool.spec, disabled: true } });
    }
    await neighbours.sleep(settleMs);
    signal?.throwIfAborted();
    const { cidr } = pool.spec;
    if (ipam.releasePool !== undefined) await ipam.releasePool(String(cidr), { signal });
    else await releaseAffinities(neighbours, ({ spec }) => isInside(spec.cidr, cidr));
    return isEnabled ? undefined : revision;
  },
};

function overlapProblems(pool: V3Object, others: readonly V3Object[]): Problem[] {
  const { cidr } = pool.spec;
  return others
    .filter(({ metadata, spec }) => metadata.name !== pool.metadata.name && doOverlap(spec.cidr, cidr))
    .map(({ metadata, spec }) => ({
      field: "spec.cidr",
      rule: `must not overlap with the pool ${metadata.name}, which has ${spec.cidr}`,
      name: "IPPool.Spec.CIDR",
      value: String(cidr),
      reason: `IPPool(${pool.metadata.name}) CIDR overlaps with IPPool(${metadata.name}) CIDR ${spec.cidr}`,
    }));
}

/** Where blocks cannot be listed, none are in the way: clusters with another IPAM have no such kind. */
async function blocksOf(neighbours: Neighbours): Promise<readonly V3Object[]> {
  try {
    return await neighbours.list("IPAMBlock");
  } catch (error) {
    if (isResourceError(error, "no-such-kind")) return [];
    throw error;
  }
}

function blockProblems({ cidr, blockSize }: JsonRecord, blocks: readonly V3Object[]): Problem[] {
  const isOther = (block: unknown) => typeof block === "string" && !block.endsWith(`/${blockSize}`);
  const found = blocks.find(({ spec }) => isOther(spec.cidr) && doOverlap(spec.cidr, cidr));
  if (found === undefined) return [];
  return [
    {
      field: "spec.blockSize",
      rule: `must be that of the blocks in use: there is ${found.spec.cidr}`,
      name: "IPPool.Spec.BlockSize",
      value: String(blockSize),
      reason: "IPPool blocksSize conflicts with existing allocations that use a different blockSize",
    },
  ];
}

function doOverlap(a: unknown, b: unknown): boolean {
  return isInside(a, b) || isInside(b, a);
}

/** Of two CIDRs; what is none is inside nothing. */
export function isInside(inner: unknown, outer: unknown): boolean {
  const [small, large] = [inner, outer].map((text) => (typeof text === "string" ? parseCidr(text) : undefined));
  if (small === undefined || large === undefined) return false;
  if (small.ip.version !== large.ip.version || small.prefixLength < large.prefixLength) return false;
  const cut = mask({ ip: small.ip, prefixLength: large.prefixLength });
  const edge = mask(large);
  return cut.ip.bytes.every((byte, at) => byte === edge.ip.bytes[at]);
}

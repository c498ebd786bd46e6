// Pools: no two overlap, CIDR and block size stay what they are, blocks in use keep their size, and a pool that goes gives
// its blocks back first.
import { canonicalCidr, isMasked, type JsonRecord, mask, parseCidr } from "../../../base/lib/index.ts";
import { type Fault, goListText, ResourceError, refuseFaults } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import { releaseAffinities } from "./release-affinities.ts";
import type { Neighbours, Rules, WriteContext } from "./rule.ts";

/** Allocations that are under way when a pool is disabled may finish. */
const settleMs = 500;

export const ipPoolRules: Rules = {
  prepare: async (pool, { isNew, stored, neighbours }: WriteContext) => {
    const { spec } = pool;
    const cidr = canonicalPool(spec.cidr);
    const filled = withPoolDefaults({ ...pool, spec: { ...spec, cidr: cidr.text } });
    const faults: Fault[] = isNew
      ? overlapFaults(filled, await neighbours.list("IPPool"))
      : changeFaults(filled.spec, (await stored()).spec);
    if (!cidr.isStrict) {
      faults.push({ name: cidrField, value: cidr.text, reason: "IPPool CIDR is not strictly masked" });
    }
    refuseFaults(faults);
    return filled;
  },
  check: async (pool, { isNew, neighbours }) => {
    if (isNew) refuseFaults(blockFaults(pool.spec, await blocksOf(neighbours)));
  },
  beforeDelete: async (id, { neighbours, revision, signal }) => {
    const pool = await neighbours.get("IPPool", id);
    const isEnabled = pool.spec.disabled !== true;
    if (isEnabled) {
      // The first write meets what the caller knows, so that a conflict is found here.
      const metadata = { ...pool.metadata, ...(revision === undefined ? {} : { resourceVersion: revision }) };
      await neighbours.update({ ...pool, metadata, spec: { ...pool.spec, disabled: true } });
    }
    await neighbours.sleep(settleMs);
    signal?.throwIfAborted();
    const cidr = typeof pool.spec.cidr === "string" ? pool.spec.cidr : "";
    await releaseAffinities(neighbours, ({ spec }) => isInside(spec.cidr, cidr));
    return isEnabled ? undefined : revision;
  },
  read: withPoolDefaults,
};

const cidrField = "IPPool.Spec.CIDR";

function canonicalPool(given: unknown): { text: string; isStrict: boolean } {
  if (given === undefined || given === "") refuse({ name: cidrField, reason: "IPPool CIDR must be specified" });
  const text = String(given);
  const cidr = parseCidr(text);
  const canonical = canonicalCidr(text);
  if (cidr === undefined || canonical === undefined) {
    refuse({ name: cidrField, value: text, reason: "IPPool CIDR must be a valid subnet" });
  }
  return { text: canonical.text, isStrict: isMasked(cidr) };
}

function refuse(fault: Fault): never {
  refuseFaults([fault]);
  throw new ResourceError("invalid", fault.reason); // refuseFaults has thrown
}

/** Reading fills these in, too: pools of other hands may lack them. */
export function withPoolDefaults(pool: V3Object): V3Object {
  const { spec } = pool;
  const isVersion6 = typeof spec.cidr === "string" && spec.cidr.includes(":");
  const uses =
    Array.isArray(spec.allowedUses) && spec.allowedUses.length > 0 ? spec.allowedUses : ["Workload", "Tunnel"];
  return {
    ...pool,
    spec: {
      ...spec,
      vxlanMode: spec.vxlanMode || "Never",
      ipipMode: spec.ipipMode || "Never",
      blockSize: spec.blockSize || (isVersion6 ? 122 : 26),
      nodeSelector: spec.nodeSelector || "all()",
      allowedUses: uses,
      assignmentMode: spec.assignmentMode || "Automatic",
    },
  };
}

function changeFaults(now: JsonRecord, before: JsonRecord): Fault[] {
  const isForServices = Array.isArray(before.allowedUses) && before.allowedUses.includes("LoadBalancer");
  const uses: readonly unknown[] = Array.isArray(now.allowedUses) ? now.allowedUses : [];
  if (isForServices && uses.some((use) => use !== "LoadBalancer")) {
    const reason = "IPPool allowed use cannot be changed from LoadBalacer to Workload or Tunnel"; // the original's spelling
    refuse({ name: "IPPool.Spec.AllowedUses", value: goListText(uses), reason });
  }
  const faults: Fault[] = [];
  if (canonicalCidr(String(before.cidr))?.text !== now.cidr) {
    faults.push({ name: cidrField, value: String(now.cidr), reason: "IPPool CIDR cannot be modified" });
  }
  if (before.blockSize !== now.blockSize) {
    const reason = "IPPool BlockSize cannot be modified";
    faults.push({ name: "IPPool.Spec.BlockSize", value: String(now.blockSize), reason });
  }
  return faults;
}

function overlapFaults(pool: V3Object, others: readonly V3Object[]): Fault[] {
  const cidr = String(pool.spec.cidr);
  return others
    .filter(({ metadata, spec }) => metadata.name !== pool.metadata.name && doOverlap(spec.cidr, cidr))
    .map(({ metadata, spec }) => ({
      name: cidrField,
      value: cidr,
      reason: `IPPool(${pool.metadata.name}) CIDR overlaps with IPPool(${metadata.name}) CIDR ${spec.cidr}`,
    }));
}

/** Where blocks cannot be listed, none are in the way: clusters with another IPAM have no such kind. */
async function blocksOf(neighbours: Neighbours): Promise<readonly V3Object[]> {
  try {
    return await neighbours.list("IPAMBlock");
  } catch (error) {
    if (error instanceof ResourceError && error.code === "no-such-kind") return [];
    throw error;
  }
}

function blockFaults({ cidr, blockSize }: JsonRecord, blocks: readonly V3Object[]): Fault[] {
  const isOther = (block: unknown) => typeof block === "string" && !block.endsWith(`/${blockSize}`);
  const inTheWay = blocks.some(({ spec }) => isOther(spec.cidr) && doOverlap(spec.cidr, cidr));
  if (!inTheWay) return [];
  const reason = "IPPool blocksSize conflicts with existing allocations that use a different blockSize";
  return [{ name: "IPPool.Spec.BlockSize", value: String(blockSize), reason }];
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

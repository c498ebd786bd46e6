// Who has an address, as `ipam show --ip` says it.
import { type AddressRange, addressText, holds } from "../../../../base/lib/index.ts";
import { type Attribute, type Block, type Pool, poolOf } from "../../../../calico/ipam/index.ts";

/** Where the block of an address is expected, by the pool that it is in. Undefined: it is in no pool. */
export function expectedBlock(pools: readonly Pool[], address: AddressRange): AddressRange | undefined {
  const pool = poolOf(pools, address, "any");
  if (pool === undefined) return undefined;
  const hostBits = BigInt((address.family === 4 ? 32 : 128) - pool.blockSize);
  return { family: address.family, first: (address.first >> hostBits) << hostBits, prefixLength: pool.blockSize };
}

/** Undefined: nobody. One that waits after its release is held by nobody, either. */
export function holderOf({ range, allocations, attributes }: Block, address: AddressRange): Attribute | undefined {
  if (!holds(range, address)) return undefined;
  const index = allocations[Number(address.first - range.first)];
  const attribute = index === null || index === undefined ? undefined : attributes[index];
  return attribute?.releasedAt === undefined ? attribute : undefined;
}

export function ownerLines({ family, first }: AddressRange, holder: Attribute | undefined): string {
  const address = addressText(family, first);
  if (holder === undefined) return `${address} is not assigned\n`;
  // Migrated data may have a carriage return and more behind a handle.
  const handle = holder.handle_id?.split("\r", 1)[0] || "<none>";
  const active = attributeLines(holder.secondary);
  const alternate = attributeLines(holder.alternateOwnerAttrs);
  return [
    `IP ${address} is in use`,
    `Handle ID: ${handle}`,
    ...(active.length === 0 ? ["No Active Owner attributes defined"] : ["Active Owner Attributes:", ...active]),
    ...(alternate.length === 0 ? [] : ["Alternate Owner Attributes:", ...alternate]),
    "",
  ].join("\n");
}

function attributeLines(attributes: Attribute["secondary"] = {}): string[] {
  return Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([name, value]) => `  ${name}: ${value}`);
}

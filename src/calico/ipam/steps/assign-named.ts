// Takes one address that the request names. It must be in an enabled pool for that use; selectors, assignment mode, reservations and
// limits do not count. A block that does not exist is claimed; another's is borrowed from, unless affinity is strict.
import { type AddressRange, addressText, rangeText } from "../../../base/lib/index.ts";
import { type Owner, ownerText } from "../affinity.ts";
import type { Attribute, Block } from "../block.ts";
import { assignNamed, type NotAssigned } from "../block-changes.ts";
import { blockOf } from "../block-order.ts";
import { type Pool, poolOf, type Use } from "../pools.ts";
import { assignInBlock } from "./assign-in-block.ts";
import type { AssignedAddress, IpamSettings } from "./auto-assign.ts";
import { claimBlock } from "./claim.ts";
import { type HeldAddress, heldIn } from "./look-up.ts";
import { getBlock, mostTries, type Steps, TooManyConflicts } from "./step.ts";

export type NamedRequest = {
  readonly address: AddressRange;
  readonly owner: Owner;
  readonly use: Use;
  readonly handle: string | undefined;
  readonly secondary: { readonly [name: string]: string };
  readonly pools: readonly Pool[];
  readonly settings: Pick<IpamSettings, "strictAffinity" | "cooldownSeconds">;
  /** Who may ask twice and means the same: whether the handle's own address is what it asks for. */
  readonly isSame?: (held: Attribute) => boolean;
};

export type NamedResult =
  | ({ readonly is: "assigned" } & AssignedAddress)
  | { readonly is: "refused"; readonly reason: NotAssigned["reason"] | "no-pool" | "other-use"; readonly says: string };

export function* assignAddress(request: NamedRequest): Steps<NamedResult> {
  const { address, owner, handle, secondary, settings } = request;
  const pool = poolOf(request.pools, address, "enabled");
  const range = pool === undefined ? undefined : blockOf(pool, address);
  if (pool === undefined || range === undefined) {
    // The original's sentence ends so.
    return { is: "refused", reason: "no-pool", says: "The provided IP address is not in a configured pool\n" };
  }
  if (!pool.allowedUses.includes(request.use))
    return { is: "refused", reason: "other-use", says: otherUse(request, pool) };
  const attribute: Attribute = handle === undefined ? { secondary } : { handle_id: handle, secondary };
  const holder = { attribute, owner: ownerText(owner), strictAffinity: settings.strictAffinity };
  for (let turn = 0; turn < mostTries; turn += 1) {
    const block = (yield* getBlock(rangeText(range))) ?? (yield* claimed({ owner, range }));
    if (block === undefined) continue; // another node was faster: its block is there now
    const done = yield* assignInBlock(block, {
      handle,
      attribute,
      cooldownSeconds: settings.cooldownSeconds,
      choose: (current) => assignNamed(current, address, holder),
      ...(request.isSame === undefined ? {} : { held: (current: Block) => heldAs(current, request) }),
    });
    if (done.is === "no-block") continue;
    if (done.is === "assigned") return { is: "assigned", address, block: range };
    if (done.is === "held") return { is: "assigned", address, block: range, wasHeld: true };
    const { reason, says } = done;
    if (reason !== "taken") return { is: "refused", reason, says };
    return { is: "refused", reason, says: `resource already exists: ${textOf(address)} with error: ${says}` };
  }
  throw new TooManyConflicts();
}

function heldAs(block: Block, { address, handle, isSame }: NamedRequest): readonly HeldAddress[] {
  if (handle === undefined || isSame === undefined) return [];
  const held = heldIn(block, handle).filter((each) => each.address.first === address.first);
  return held.filter(({ attribute }) => isSame(attribute));
}

function* claimed(claim: { readonly owner: Owner; readonly range: AddressRange }) {
  const done = yield* claimBlock(claim);
  return done.is === "claimed" ? done.block : undefined;
}

function otherUse({ address, use }: NamedRequest, { name, allowedUses }: Pool): string {
  const allowed = allowedUses.join(" ");
  return `IP address ${textOf(address)} is in IP pool "${name}", which is not allowed for use "${use}" (allowedUses: [${allowed}])`;
}

function textOf({ family, first }: AddressRange): string {
  return addressText(family, first);
}

// What blocks say of each address that is not free: who holds it, under which handle, since when. The report of an audit, and
// what is printed of it, are made of these.
import { addressText } from "../../../base/lib/index.ts";
import { parseOwner } from "../affinity.ts";
import { type Attribute, type Block, cidrOf, handleText } from "../block.ts";

/** For whom an address is held, as its attributes say it. */
export type HeldFor =
  | { readonly is: "pod"; readonly namespace: string; readonly pod: string; readonly node: string }
  | { readonly is: "tunnel"; readonly node: string; readonly type: string }
  | { readonly is: "service"; readonly namespace: string; readonly service: string }
  /** Windows keeps some addresses of each of its blocks. */
  | { readonly is: "windows" }
  /** KubeVirt: it keeps its address while it does not run. */
  | { readonly is: "virtual machine" }
  /** Given back, and not free yet. */
  | { readonly is: "waiting" }
  | { readonly is: "unknown" };

export type Allocation = {
  readonly address: string;
  readonly block: string;
  readonly ordinal: number;
  /** Undefined: none, or the one that Windows uses, which has no object. */
  readonly handle: string | undefined;
  readonly heldFor: HeldFor;
  /** Of the attributes, or else the block's owner; "" where neither says one. */
  readonly node: string;
  readonly isBorrowed: boolean;
  readonly sequenceNumber: bigint;
  /** Undefined: the block points to attributes that it does not have. */
  readonly attribute: Attribute | undefined;
};

const windowsHandle = "windows-reserved-ipam-handle";
const tunnelTypes = new Set([
  "ipipTunnelAddress",
  "vxlanTunnelAddress",
  "vxlanV6TunnelAddress",
  "wireguardTunnelAddress",
  "wireguardV6TunnelAddress",
]);

export function allocationsOf(block: Block): Allocation[] {
  const owner = parseOwner(block.owner);
  const host = owner?.type === "host" ? owner.name : "";
  const cidr = cidrOf(block);
  return block.allocations.flatMap((index, ordinal) => {
    if (index === null) return [];
    const attribute = block.attributes[index];
    const node = attribute?.secondary?.node || host;
    return [
      {
        address: addressText(block.range.family, block.range.first + BigInt(ordinal)),
        block: cidr,
        ordinal,
        handle: handleOf(attribute),
        heldFor: heldFor(attribute),
        node,
        isBorrowed: node !== host,
        sequenceNumber: block.sequenceNumbers.get(ordinal) ?? 0n,
        attribute,
      },
    ];
  });
}

export function heldFor({ handle_id: handle = "", secondary = {}, releasedAt }: Attribute = {}): HeldFor {
  if (releasedAt !== undefined && releasedAt !== "") return { is: "waiting" };
  if (handle === windowsHandle) return { is: "windows" };
  if (handle.includes(".vmi.")) return { is: "virtual machine" };
  const { type = "", node = "", namespace = "", pod = "", service = "" } = secondary;
  if (tunnelTypes.has(type) && node !== "") return { is: "tunnel", node, type };
  if (service !== "" && namespace !== "") return { is: "service", namespace, service };
  if (pod !== "" && namespace !== "") return { is: "pod", namespace, pod, node };
  return { is: "unknown" };
}

function handleOf(attribute: Attribute | undefined): string | undefined {
  const id = attribute?.handle_id;
  return id === undefined || id === windowsHandle ? undefined : handleText(id);
}

/**
 * When the address was taken, as the attributes say it: "2026-11-16 10:19:52.123456789 +0000 UTC". Undefined: they do not. The
 * fraction is dropped.
 */
export function takenAtNs({ attribute }: Allocation): bigint | undefined {
  const [, day, time] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? \+0000 UTC/.exec(attribute?.secondary?.timestamp ?? "") ?? [];
  const ms = Date.parse(`${day}T${time}Z`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n;
}

/** As the original's check prints it. */
export function attributeText(attribute: Attribute | undefined): string {
  if (attribute === undefined) return "<missing>";
  const main = `Main:${attribute.handle_id ?? "<none>"} Extra:${pairs(attribute.secondary)}`;
  const alternate = pairs(attribute.alternateOwnerAttrs);
  return alternate === "" ? main : `${main} Alternate:${alternate}`;
}

function pairs(texts: { readonly [name: string]: string } = {}): string {
  const names = Object.keys(texts).sort();
  return names.map((name) => `${name}=${texts[name]}`).join(",");
}

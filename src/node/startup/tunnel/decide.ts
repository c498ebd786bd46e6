// What becomes of one tunnel address: pure, from the Node, the pools and what IPAM says of the address that the Node has.
//
//   no pool wants one ─────────────────────────────▶ remove
//   Node has none ─────────────────────────────────▶ release by handle, assign
//   ours, and in one of the pools ─────────────────▶ keep
//   ours, in another pool ─────────────────────────▶ release by handle, assign
//   not assigned to anybody ───────────────────────▶ release by handle, assign
//   no attributes, no handle (before releases had them) ▶ adopt: release and take the same again, under the handle
//   somebody else's ───────────────────────────────▶ assign, and leave the old alone
import { type AddressRange, holds, parseCidr, parseRange, rangeText } from "../../../base/lib/index.ts";
import { evaluateSelector, type Labels, parseSelector } from "../../../calico/model/index.ts";
import type { V3Object } from "../../../calico/resources/index.ts";
import type { TunnelKind } from "./kinds.ts";

/** As getAssignmentAttributes has it, less what does not matter here. */
export type Held =
  | {
      readonly is: "assigned";
      readonly handle: string | undefined;
      readonly attributes: { readonly [name: string]: unknown };
    }
  | { readonly is: "not assigned" };

export type TunnelStep =
  | { readonly do: "keep" }
  | { readonly do: "adopt" }
  | { readonly do: "assign"; readonly releasesFirst: boolean; readonly why: string };

export function decideTunnel(
  { type }: TunnelKind,
  { node, address, held, ranges }: { node: string; address: string; held: Held; ranges: readonly AddressRange[] },
): TunnelStep {
  if (address === "") return { do: "assign", releasesFirst: true, why: "Assign a new tunnel address" };
  if (held.is === "not assigned")
    return { do: "assign", releasesFirst: true, why: "Current address is not assigned, assign a new one" };
  const { attributes, handle } = held;
  if (attributes.type === type && attributes.node === node) {
    const range = parseRange(address);
    if (range !== undefined && ranges.some((pool) => holds(pool, range))) return { do: "keep" };
    return {
      do: "assign",
      releasesFirst: true,
      why: "Current address is not in a valid pool, release it and reassign",
    };
  }
  if (Object.keys(attributes).length === 0 && handle === undefined) return { do: "adopt" };
  return { do: "assign", releasesFirst: false, why: "Current address is occupied, assign a new one" };
}

/** The pools that the tunnel's address may come from. */
export function rangesFor(kind: TunnelKind, pools: readonly V3Object[], labels: Labels): readonly AddressRange[] {
  return pools.flatMap(({ spec, metadata }) => {
    const cidr = parseCidr(String(spec.cidr));
    const range = parseRange(String(spec.cidr));
    const uses = Array.isArray(spec.allowedUses) ? spec.allowedUses : [];
    const isFor = uses.length === 0 || uses.includes("Tunnel");
    const isOff = spec.disabled === true || metadata.deletionTimestamp !== undefined;
    if (cidr === undefined || range === undefined || isOff || !isFor) return [];
    if (range.family !== kind.family || !kind.usesPool(spec) || !selectsNode(spec.nodeSelector, labels)) return [];
    return [range];
  });
}

/** One that cannot be read selects nobody. */
function selectsNode(selector: unknown, labels: Labels): boolean {
  if (typeof selector !== "string" || selector === "") return true;
  const parsed = parseSelector(selector);
  return parsed.is === "selector" && evaluateSelector(parsed.selector, labels);
}

export const rangeTexts = (ranges: readonly AddressRange[]): string[] => ranges.map(rangeText);
